import { z } from 'zod'
import { lazily } from '../../../../../src/protocol/lazily.ts'

/** State of one path. A file without a hash is too large to be kept, or may not be read: it is identified by its stamp alone. */
export const treeStateSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('file'),
      /** Permissions. */
      mode: z.int(),
      /** Size in bytes. */
      size: z.number(),
      /** SHA-256 of the content, in hexadecimal digits. */
      hash: z.string().optional(),
      /** Value that changes with every change of the file. */
      stamp: z.string(),
    }),
    z.object({ type: z.literal('link'), target: z.string() }),
    z.object({
      type: z.literal('folder'),
      mode: z.int(),
      /** Set if the folder was not examined inside: the objects of a git repository, or a folder that may not be read. */
      isClosed: z.literal(true).optional(),
    }),
    /** A pipe, a socket or a device, which is not covered. */
    z.object({ type: z.literal('other') }),
  ]),
)
export type TreeState = z.output<ReturnType<typeof treeStateSchema>>

/** States of all paths below a folder, by the path relative to it, with `/`. A folder precedes its entries. */
export type Tree = ReadonlyMap<string, TreeState>

/** Returns true if nothing changed from one state to the other; `null` stands for nothing there. */
export function isSameState(a: TreeState | null, b: TreeState | null): boolean {
  if (a === null || b === null) return a === b
  if (a.type === 'file' && b.type === 'file')
    return a.mode === b.mode && (a.hash === undefined || b.hash === undefined ? a.stamp === b.stamp : a.hash === b.hash)
  if (a.type === 'link' && b.type === 'link') return a.target === b.target
  if (a.type === 'folder' && b.type === 'folder') return a.mode === b.mode
  return a.type === b.type
}

/** Returns the folder `.git` that a path is in, or is; `undefined` for other paths. Its contents are undone as a whole, or not at all. */
export function gitFolderOf(path: string): string | undefined {
  const names = path.split('/')
  const at = names.indexOf('.git')
  return at === -1 ? undefined : names.slice(0, at + 1).join('/')
}
