import { blanked } from './withoutSecrets.ts'
import type { FilesBefore } from './filesBefore.ts'
import { isBelow, isMadeByTools, isSecretFile, most, type WorkspaceFiles } from './workspaceFiles.ts'

/**
 * Selects the files saved with a task, as they were before the conversation as far as known. It is the only way for files into a task: files of
 * secrets, files made by tools, links, and files beyond a task's limits are left out, and keys in texts are blanked. Notes name the
 * files left out or changed. Pure.
 */
export function filesToSave(
  { files: before, unknown, commands }: FilesBefore,
  now: WorkspaceFiles,
): { readonly files: ReadonlyMap<string, Buffer>; readonly notes: readonly string[] } {
  const files = new Map<string, Buffer>()
  const secret = new Set(now.secret)
  const large = new Set(now.large)
  const links = new Set(now.other)
  const changed: string[] = []
  let bytes = 0
  for (const [path, content] of before) {
    if (isMadeByTools(path) || isBelow(path, links)) continue
    if (isSecretFile(path)) {
      secret.add(path)
      continue
    }
    const clean = withoutKeys(content)
    if (clean.length > most.fileBytes || bytes + clean.length > most.bytes || files.size === most.files) {
      large.add(path)
      continue
    }
    if (clean !== content) changed.push(path)
    bytes += clean.length
    files.set(path, clean)
  }
  return {
    files,
    notes: [
      ...named('left out, as they may hold secrets', secret),
      ...named('with keys blanked', changed),
      ...named(
        'left out, as there is too much',
        [...large].filter((path) => !files.has(path)),
      ),
      ...named('left out, as they are links or no files', links),
      ...named(
        'these files are as they are now, and not as they were before',
        unknown.filter((path) => files.has(path)),
      ),
      ...(commands === 0
        ? []
        : [`what ${commands} ${commands === 1 ? 'command' : 'commands'} changed is not taken back`]),
    ],
  }
}

const mostNamed = 10

function named(what: string, paths: Iterable<string>): readonly string[] {
  const all = [...paths]
  if (all.length === 0) return []
  const more = all.length > mostNamed ? ` and ${all.length - mostNamed} more` : ''
  return [`${what}: ${all.slice(0, mostNamed).join(', ')}${more}`]
}

/** Returns a text with its keys blanked, and any other content unchanged. */
function withoutKeys(bytes: Buffer): Buffer {
  if (bytes.includes(0)) return bytes
  const text = bytes.toString('utf8')
  const clean = blanked(text)
  return clean === text ? bytes : Buffer.from(clean)
}
