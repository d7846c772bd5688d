// Package forms asks a person questions in a terminal. It knows nothing about
// what is asked: it is given questions and gives back words, each of which has
// passed the check of its question.
//
// It is the only package that knows the form library. That library's mode for
// plain input loses piped answers and takes an empty answer for a required one
// at the end of input, so it is never used: Ask is called with a terminal on
// both sides or not at all, and every answer is checked again when the form is
// done.
package forms
