// Package docs holds the documentation, and the test that runs the commands in it.
package docs
