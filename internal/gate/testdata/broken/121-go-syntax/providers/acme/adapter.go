package acme

func broken( {
