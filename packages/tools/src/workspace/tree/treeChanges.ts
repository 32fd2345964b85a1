import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { z } from 'zod'
import { lazily } from '../../../../../src/protocol/lazily.ts'
import type { Snapshots } from '../../../../../src/protocol/ports/snapshots.ts'
import { breather } from '../../../../../src/actors/timing/breather.ts'
import type { Contents } from './contents.ts'
import { gitFolderOf, isSameState, type Tree, type TreeState, treeStateSchema } from './treeEntry.ts'

const changeSchema = lazily(() =>
  z.object({
    path: z.string(),
    before: treeStateSchema().nullable(),
    after: treeStateSchema().nullable(),
    /** Reason why the change cannot be undone. */
    lost: z.string().optional(),
  }),
)
/** The state of one path before and after a command. */
export type TreeChange = z.output<ReturnType<typeof changeSchema>>

/** Changes of a command as stored. The earlier contents are one sequence of bytes, in separately compressed pieces; `places` locates each hash. */
const manifestSchema = lazily(() =>
  z.object({
    changes: z.array(changeSchema()).readonly(),
    /** Ids of the pieces. */
    pieces: z.array(z.string()).readonly(),
    /** Number of bytes of each piece but the last, before compression. */
    pieceBytes: z.int().positive(),
    /** Offset at which the content of each hash begins. */
    places: z.record(z.string(), z.number()),
  }),
)

const mostPieceBytes = 8 * 1024 * 1024
const packed = promisify(deflateRaw)
const unpacked = promisify(inflateRaw)

/** Returns the changes between two trees, in no particular order. */
export function changesBetween(before: Tree, after: Tree): TreeChange[] {
  const changes: TreeChange[] = []
  const isUnseen = insideOf([...closedIn(before), ...closedIn(after)])
  const note = (path: string, from: TreeState | null, to: TreeState | null): void => {
    const lost = whyLost(path, from, to)
    if ((isSameState(from, to) && lost === undefined) || isUnseen(path)) return
    changes.push({ path, before: from, after: to, ...(lost === undefined ? {} : { lost }) })
  }
  for (const [path, state] of before) note(path, state, after.get(path) ?? null)
  for (const [path, state] of after) if (!before.has(path)) note(path, null, state)
  return changes
}

function whyLost(path: string, before: TreeState | null, after: TreeState | null): string | undefined {
  if ((before?.type === 'other' || after?.type === 'other') && !isSameState(before, after))
    return 'it is no file, link or folder'
  if (before?.type === 'file' && before.hash === undefined && !isSameState(before, after))
    return `its ${before.size} bytes were not kept: too many, or they may not be read`
  if (isClosed(before) ? !isClosed(after) : before !== null && isClosed(after))
    return gitFolderOf(path) === undefined ? 'what was in it may not be read' : 'what git had stored in it was not kept'
  return undefined
}

const isClosed = (state: TreeState | null): boolean => state?.type === 'folder' && state.isClosed === true

/** Returns the paths that were not examined inside. */
const closedIn = (tree: Tree): string[] => [...tree].flatMap(([path, state]) => (isClosed(state) ? path : []))

/** Returns a function that tests if a path is below one of these folders. An entry seen there in only one tree may have existed before. */
function insideOf(folders: readonly string[]): (path: string) => boolean {
  const closed = new Set(folders)
  return (path) => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      if (closed.has(path.slice(0, at))) return true
    return false
  }
}

/** Stores changes with the earlier contents. Resolves to the id for `readChanges`; rejects as the snapshots do. */
export async function keepChanges(
  changes: readonly TreeChange[],
  contents: Pick<Contents, 'get'>,
  snapshots: Snapshots,
): Promise<string> {
  const pieceBytes = Math.max(1, Math.min(mostPieceBytes, Math.floor(snapshots.maxFileBytes * 0.99) - 64))
  const pieces: string[] = []
  const places: Record<string, number> = {}
  const breathe = breather()
  let waiting: Uint8Array[] = []
  let length = 0
  const flush = async (least: number): Promise<void> => {
    while (length >= least && length > 0) {
      const all = Buffer.concat(waiting)
      pieces.push(await snapshots.put(await packed(all.subarray(0, pieceBytes), { level: 3 })))
      waiting = [all.subarray(pieceBytes)]
      length = waiting[0]!.length
    }
  }
  let at = 0
  for (const { before, lost } of changes) {
    if (before?.type !== 'file' || before.hash === undefined || lost !== undefined) continue
    if (Object.hasOwn(places, before.hash)) continue
    await breathe()
    const bytes = contents.get(before.hash)
    if (bytes === undefined) throw new Error('the temporary copy of a file is damaged')
    places[before.hash] = at
    at += bytes.length
    waiting.push(bytes)
    length += bytes.length
    await flush(pieceBytes)
  }
  await flush(1)
  const manifest = JSON.stringify({ changes, pieces, pieceBytes, places })
  const id = await snapshots.put(await packed(manifest))
  // What was put first goes first.
  if (pieces[0] !== undefined && (await snapshots.get(pieces[0])) === undefined)
    throw new Error('it takes more room than there is for what is kept')
  return id
}

/** Stored changes, with a function for the content of a hash, which resolves to `undefined` if the content is no longer kept. */
export interface KeptChanges {
  readonly changes: readonly TreeChange[]
  contentOf(hash: string, size: number): Promise<Uint8Array | undefined>
}

/** Resolves with stored changes; `undefined` if they are no longer kept. Rejects if they are damaged. */
export async function readChanges(id: string, snapshots: Snapshots): Promise<KeptChanges | undefined> {
  const kept = await snapshots.get(id)
  if (kept === undefined) return undefined
  const text = new TextDecoder().decode(await unpacked(kept))
  const { changes, pieces, pieceBytes, places } = manifestSchema().parse(JSON.parse(text))
  let last: { readonly index: number; readonly bytes: Uint8Array } | undefined
  const pieceAt = async (index: number): Promise<Uint8Array | undefined> => {
    if (last?.index === index) return last.bytes
    const piece = await snapshots.get(pieces[index] ?? '')
    if (piece === undefined) return undefined
    const bytes = await unpacked(piece)
    last = { index, bytes }
    return bytes
  }
  return {
    changes,
    async contentOf(hash, size) {
      const from = places[hash]
      if (from === undefined) return undefined
      const parts: Uint8Array[] = []
      for (let at = from; at < from + size;) {
        const piece = await pieceAt(Math.floor(at / pieceBytes))
        const part = piece?.subarray(at % pieceBytes, (at % pieceBytes) + from + size - at)
        if (part === undefined || part.length === 0) return undefined
        parts.push(part)
        at += part.length
      }
      return Buffer.concat(parts)
    },
  }
}
