import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Files of a folder with their contents, by relative paths with `/` separators, and the paths that were left out. */
export interface WorkspaceFiles {
  readonly files: ReadonlyMap<string, Buffer>
  /** Paths of files that hold secrets. */
  readonly secret: readonly string[]
  readonly large: readonly string[]
  /** Paths of links, and of everything else that is neither a file nor a folder. */
  readonly other: readonly string[]
}

/** Limits of a task. A folder that exceeds them was named by mistake or is unsuitable. */
export const most = { files: 2_000, bytes: 20 * 1024 * 1024, fileBytes: 2 * 1024 * 1024 } as const

/** Names of files and folders that tools create, or that are of no use to a task. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git', '.hg', '.svn', '.escapement', '.DS_Store'])

/** Names of files that hold only secrets. */
const secretFile =
  /^(?:\.env(?:\..+)?|\.npmrc|\.netrc|\.pgpass|credentials|id_(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:pem|key|p12|pfx|keystore))$/i

/** Matches endings of example files, which name the required secrets without containing any. */
const exampleFile = /\.(?:example|sample|template)$/i

/** Returns true if the file at a path, judged by its name, holds only secrets. Pure. */
export function isSecretFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return secretFile.test(name) && !exampleFile.test(name)
}

/** Returns true if a path is one of these places or is inside one. Pure. */
export const isBelow = (path: string, places: ReadonlySet<string>): boolean =>
  path.split('/').some((_, index, parts) => places.has(parts.slice(0, index + 1).join('/')))

/** Returns true if a path leads into files made by tools, or is of no use to a task. Pure. */
export const isMadeByTools = (path: string): boolean => path.split('/').some((part) => leftOut.has(part))

/** Reads a folder into memory, without files made by tools, large files and files of secrets. Other files may still contain keys. */
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
