// Package sharetest is for tests of what is built on package share: a backend whose time is scripted, so that journals and
// statistics have exact expectations, and a skip that has to argue for itself.
package sharetest
