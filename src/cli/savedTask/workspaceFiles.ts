import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Files of a folder as they are, by their paths in it, with `/` between; and the paths of what was left out of it. */
export interface WorkspaceFiles {
  readonly files: ReadonlyMap<string, Buffer>
  /** Such as hold secrets. */
  readonly secret: readonly string[]
  readonly large: readonly string[]
  /** Links, and what is no file. */
  readonly other: readonly string[]
}

/** A task is small; a folder with more was not meant, or is not fit for one. */
export const most = { files: 2_000, bytes: 20 * 1024 * 1024, fileBytes: 2 * 1024 * 1024 } as const

/** Made by tools, or of no use to a task. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git', '.hg', '.svn', '.escapement', '.DS_Store'])

/** Names of files that hold secrets and nothing else. */
const secretFile =
  /^(?:\.env(?:\..+)?|\.npmrc|\.netrc|\.pgpass|credentials|id_(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:pem|key|p12|pfx|keystore))$/i

/** Examples of them say what is needed. */
const exampleFile = /\.(?:example|sample|template)$/i

/** Whether the file at a path holds secrets and nothing else, by its name. Pure. */
export function isSecretFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return secretFile.test(name) && !exampleFile.test(name)
}

/** Whether a path is one of these, or leads through one. Pure. */
export const isBelow = (path: string, places: ReadonlySet<string>): boolean =>
  path.split('/').some((_, index, parts) => places.has(parts.slice(0, index + 1).join('/')))

/** Whether a path leads into what tools made, or is of no use to a task. Pure. */
export const isMadeByTools = (path: string): boolean => path.split('/').some((part) => leftOut.has(part))

/** Copies a folder into memory, without what tools made, what is large, and files of secrets. Keys in other files are still in them. */
export async function workspaceFiles(dir: string): Promise<WorkspaceFiles> {
  const files = new Map<string, Buffer>()
  const secret: string[] = []
  const large: string[] = []
  const other: string[] = []
  let bytes = 0
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(join(dir, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (isMadeByTools(entry.name)) continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) await visit(path)
      else if (!entry.isFile()) other.push(path)
      else if (isSecretFile(entry.name)) secret.push(path)
      else {
        const { size } = await lstat(join(dir, path))
        if (size > most.fileBytes || bytes + size > most.bytes || files.size === most.files) {
          large.push(path)
          continue
        }
        const read = await readFile(join(dir, path))
        bytes += read.length
        files.set(path, read)
      }
    }
  }
  await visit('')
  return { files, secret, large, other }
}
