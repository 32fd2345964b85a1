import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { ToolContext, UndoContext } from '../../../../src/actors/tools/defineTool.ts'
import { errnoOf, fileProblem } from '../../../../src/actors/files/fileProblem.ts'
import { placeOf } from '../../../../src/actors/files/openRegularFile.ts'
import { inItsFolder } from './inItsFolder.ts'
import { inTurn } from './pathQueue.ts'
import { replaceFile } from './replaceFile.ts'
import type { Workspace } from '../../../../src/actors/files/workspacePath.ts'

/** Receipt of a call: the state of a file that it left, and the one before. A file is named by its SHA-256; `null` stands for none. */
export const fileReceiptSchema = lazily(() =>
  z.object({
    /** Its real path, relative to the workspace. */
    path: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
    /** Permissions of the file before. */
    mode: z.int().optional(),
    /** The topmost folder that was made for it. */
    made: z.string().optional(),
    /** Why its content before was not kept. */
    lost: z.string().optional(),
  }),
)
export type FileReceipt = z.output<ReturnType<typeof fileReceiptSchema>>

const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

interface FileNow {
  readonly hash: string
  readonly mode: number
  readonly size: number
  /** Content; left out for a file that is larger than asked for. */
  readonly bytes?: Uint8Array
}

/** Returns the state of a file; `null` if there is none. Rejects for anything but a regular file, a symbolic link too. */
async function fileNow(real: string, maxBytes: number): Promise<FileNow | null> {
  const stats = await lstat(real).catch((thrown: unknown) => {
    if (errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ENOTDIR') return undefined
    throw thrown
  })
  if (stats === undefined) return null
  if (!stats.isFile()) throw new Error('something that is no regular file stands there')
  const handle = await open(real, readFlags)
  try {
    if ((await placeOf(handle, real)) !== real) throw new Error('something else stands at its path now')
    const { mode } = await handle.stat()
    const hash = createHash('sha256')
    const pieces: Buffer[] = []
    let size = 0
    for await (const piece of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      hash.update(piece)
      size += piece.length
      if (size <= maxBytes) pieces.push(piece)
    }
    const read = { hash: hash.digest('hex'), mode: mode & 0o7777, size }
    return size > maxBytes ? read : { ...read, bytes: Buffer.concat(pieces) }
  } finally {
    await handle.close()
  }
}

/** Change that a call is about to make to a file; `after: null` deletes it. */
export interface FileChange {
  readonly real: string
  readonly after: string | null
  /** The topmost folder that was made for it. */
  readonly made?: string | undefined
}

/**
 * Keeps the content of a file before a call changes it. Returns what to tell the model if its content could not be kept, `''` otherwise.
 * Contract: called when it is the file's turn, just before the change.
 */
export async function keepFile(workspace: Workspace, change: FileChange, context: ToolContext): Promise<string> {
  const { real, after, made } = change
  const { snapshots } = context
  const before = await fileNow(real, snapshots.maxFileBytes)
  const lost = before === null ? undefined : await whyNotKept(before, snapshots)
  const path = workspace.show(real)
  const receipt: FileReceipt = {
    path,
    before: before?.hash ?? null,
    after: after === null ? null : createHash('sha256').update(after).digest('hex'),
    ...(before === null ? {} : { mode: before.mode }),
    ...(made === undefined ? {} : { made: workspace.show(made) }),
    ...(lost === undefined ? {} : { lost }),
  }
  context.keep(receipt, path)
  return lost === undefined ? '' : `\nThis cannot be undone: ${lost}.`
}

async function whyNotKept({ size, bytes }: FileNow, snapshots: ToolContext['snapshots']): Promise<string | undefined> {
  if (bytes === undefined)
    return `the file had ${size} bytes before, more than is kept of a file (${snapshots.maxFileBytes})`
  try {
    await snapshots.put(bytes)
    return undefined
  } catch (thrown) {
    return `what the file was before could not be kept: ${messageOf(thrown)}`
  }
}

/** The parts of a file tool that make its effects reversible. */
export interface FileUndo {
  readonly effects: 'reversible'
  readonly receipt: ReturnType<typeof fileReceiptSchema>
  undo(context: UndoContext<unknown, FileReceipt>): Promise<void>
}

export const fileUndo = (workspace: Workspace): FileUndo => ({
  effects: 'reversible',
  receipt: fileReceiptSchema(),
  undo: (context) => undoFile(workspace, context),
})

/**
 * Restores a file to its state before the oldest of these calls. Changes nothing and rejects, with the reason, when it is no longer as the
 * newest call left it, when something else changed it in between, or when its content is no longer kept.
 */
async function undoFile(
  workspace: Workspace,
  {
    receipt,
    earlier,
    snapshots,
    signal,
  }: Pick<UndoContext<unknown, FileReceipt>, 'receipt' | 'earlier' | 'snapshots' | 'signal'>,
): Promise<void> {
  const { path } = receipt
  const real = await workspace.locate(path)
  if (workspace.show(real) !== path) throw new Error('something else stands at its path now')
  const chain = [receipt, ...earlier.filter((one) => one.path === path)]
  const oldest = chain.at(-1)!
  await inTurn(real, async () => {
    signal.throwIfAborted()
    const now = (await fileNow(real, 0))?.hash ?? null
    if (now !== oldest.before) {
      if (now !== receipt.after) throw new Error(now === null ? 'it is gone' : 'it was changed by something else since')
      if (chain.some(({ before }, index) => index + 1 < chain.length && before !== chain[index + 1]!.after))
        throw new Error('it was changed by something else in between')
      await restore(real, oldest, { path, snapshots, signal })
    }
    if (oldest.before === null) for (const { made } of chain) await removeEmpty(workspace, made, real)
  })
}

async function restore(
  real: string,
  { before, mode, lost }: FileReceipt,
  { path, snapshots, signal }: Pick<UndoContext, 'snapshots' | 'signal'> & { readonly path: string },
): Promise<void> {
  if (lost !== undefined) throw new Error(lost)
  try {
    if (before === null) return await inItsFolder(real, (place) => rm(place))
    const bytes = await snapshots.get(before)
    if (bytes === undefined) throw new Error('what it was before is no longer kept')
    await replaceFile(real, bytes, signal, mode)
  } catch (thrown) {
    throw errnoOf(thrown) === 'ENOENT' ? new Error('its folder is gone', { cause: thrown }) : fileProblem(thrown, path)
  }
}

/** Removes the folders that were made for a file, from the innermost, as far as nothing else is in them. */
async function removeEmpty(workspace: Workspace, made: string | undefined, real: string): Promise<void> {
  if (made === undefined) return
  const top = join(workspace.root, made)
  try {
    for (let folder = dirname(real); folder.length >= top.length; folder = dirname(folder))
      await inItsFolder(folder, rmdir)
  } catch {
    // Something else is in it, or it is gone.
  }
}
