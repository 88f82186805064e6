// Package database writes rows into the tables of a database, each once: what a commit has is loaded together with the
// position after it, by a [Driver], so that the database itself says how far it goes.
//
// The drivers are in the rooms below. docs/design/tables.md has the reasons.
package database
