import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { TaskFile } from './taskFiles.ts'

/** Returns the SHA-256 over paths and contents of files, in hex. `rest`: further data, included as JSON. */
export async function suiteDigest(files: readonly TaskFile[], rest: unknown): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const [kind, bytes] = await contentOf(file)
    // Lengths, so that no two lists of files read the same.
    hash.update(`${kind} ${Buffer.byteLength(file.path)} ${file.path} ${bytes.length}\n`)
    hash.update(bytes)
  }
  hash.update(JSON.stringify(rest) ?? '')
  return hash.digest('hex')
}

async function contentOf(file: TaskFile): Promise<readonly [string, Buffer]> {
  if ('link' in file) return ['link', Buffer.from(file.link)]
  if ('text' in file) return ['file', Buffer.from(file.text)]
  const isExecutable = ((await stat(file.from)).mode & 0o111) !== 0
  return [isExecutable ? 'program' : 'file', await readFile(file.from)]
}
