import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { markdownMemory } from '../../../tools/src/memory/markdownMemory.ts'
import { sqliteMemory } from '../../../tools/src/memory/sqliteMemory.ts'
import type { Memory } from '../../../../src/protocol/ports/memory.ts'

/** A memory of the command line. */
export interface OpenMemory {
  readonly memory: Memory
  close(): void
}

/**
 * Opens a memory: a folder of Markdown files or an SQLite file. A missing one is created when the first entry is kept, as a file if the path has a
 * file extension.
 */
export function openMemory(path: string): OpenMemory {
  const found = statSync(path, { throwIfNoEntry: false })
  const isFile = found === undefined ? extname(path) !== '' : !found.isDirectory()
  if (!isFile) return { memory: markdownMemory(path), close: () => {} }
  const memory = sqliteMemory(path)
  return { memory, close: () => memory.close() }
}
