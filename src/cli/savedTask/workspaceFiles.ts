import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { knownKeys } from '../../redaction/knownKeys.ts'

/** Files of a folder, by their paths in it, with `/` between; and what was left out of it. */
export interface WorkspaceFiles {
  readonly files: ReadonlyMap<string, Buffer>
  /** What was left out or changed, for people. */
  readonly notes: readonly string[]
}

/** A task is small; a folder with more was not meant, or is not fit for one. */
const most = { files: 2_000, bytes: 20 * 1024 * 1024, fileBytes: 2 * 1024 * 1024 } as const

/** Made by tools, or of no use to a task. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git', '.hg', '.svn', '.escapement', '.DS_Store'])

/** Names of files that hold secrets and nothing else. */
const secretFile =
  /^(?:\.env(?:\..+)?|\.npmrc|\.netrc|\.pgpass|credentials|id_(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:pem|key|p12|pfx|keystore))$/i

/** Examples of them say what is needed. */
const exampleFile = /\.(?:example|sample|template)$/i

/** Copies a folder into memory, without what tools made, what is large, and secrets: keys in texts are blanked. */
export async function workspaceFiles(dir: string): Promise<WorkspaceFiles> {
  const files = new Map<string, Buffer>()
  const [large, secret, changed, other]: string[][] = [[], [], [], []]
  let bytes = 0
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(join(dir, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (leftOut.has(entry.name)) continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) await visit(path)
      else if (!entry.isFile()) other!.push(path)
      else if (secretFile.test(entry.name) && !exampleFile.test(entry.name)) secret!.push(path)
      else {
        const { size } = await lstat(join(dir, path))
        if (size > most.fileBytes || bytes + size > most.bytes || files.size === most.files) {
          large!.push(path)
          continue
        }
        const read = await readFile(join(dir, path))
        const clean = withoutKeys(read)
        if (clean !== read) changed!.push(path)
        bytes += clean.length
        files.set(path, clean)
      }
    }
  }
  await visit('')
  return {
    files,
    notes: [
      ...said('left out, as they may hold secrets', secret!),
      ...said('with keys blanked', changed!),
      ...said('left out, as there is too much', large!),
      ...said('left out, as they are links or no files', other!),
    ],
  }
}

const mostNamed = 10

const said = (what: string, paths: readonly string[]): readonly string[] =>
  paths.length === 0
    ? []
    : [
        `${what}: ${paths.slice(0, mostNamed).join(', ')}${paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : ''}`,
      ]

/** A text whose keys are blanked; anything else as it is. */
export function withoutKeys(bytes: Buffer): Buffer {
  if (bytes.includes(0)) return bytes
  const text = bytes.toString('utf8')
  const clean = blanked(text)
  return clean === text ? bytes : Buffer.from(clean)
}

/** A text in which `[redacted]` stands for each key that is known by its shape. Pure. */
export function blanked(text: string): string {
  let clean = ''
  let end = 0
  for (const [start, to] of [...knownKeys(text)].toSorted(([a], [b]) => a - b)) {
    if (start < end) continue
    clean += `${text.slice(end, start)}[redacted]`
    end = to
  }
  return clean === '' ? text : clean + text.slice(end)
}

/** A value of JSON whose texts have no keys. Pure. */
export function blankedValue<T>(value: T): T {
  if (typeof value === 'string') return blanked(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: unknown) => blankedValue(item)) as T
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => [key, blankedValue(item)]),
  ) as T
}
