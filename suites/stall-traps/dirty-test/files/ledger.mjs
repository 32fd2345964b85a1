import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Appends an entry to the ledger in a file, and returns all of them. */
export function enter(file, entry) {
  const entries = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  entries.push(entry)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(entries))
  return entries
}
