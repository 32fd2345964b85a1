import { z } from 'zod'
import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { ToolContext, UndoContext } from '../../../../src/actors/tools/defineTool.ts'
import { folderOf, inFolder } from './paths.ts'
import type { Workspace } from './port.ts'
import { type FileNow, fileNow, hashOf } from './textFile.ts'
import type { TreeUndo } from './tree/treeUndo.ts'
import { inTurn, type WorkspaceUse } from './workspaceUse.ts'

/** Receipt of a call: a file's state after the call, and the one before. Content is named by its SHA-256; `null` stands for no file. */
export const fileReceiptSchema = lazily(() =>
  z.object({
    /** Real path of the file, relative to the workspace. */
    path: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
    /** Permissions of the file before the call. */
    mode: z.int().optional(),
    /** Topmost folder that was created for the file. */
    made: z.string().optional(),
    /** Reason why the earlier content was not kept. */
    lost: z.string().optional(),
    /** Set if a command of this agent had left the file as it was before, which is undone separately. */
    byCommand: z.literal(true).optional(),
  }),
)
export type FileReceipt = z.output<ReturnType<typeof fileReceiptSchema>>

/** Change that a call is about to make to a file; `after: null` deletes it. */
export interface FileChange {
  readonly path: string
  readonly after: Uint8Array | null
}

/** Agent that writes into a folder in which commands are undone. */
interface TreeWriter {
  readonly tree: TreeUndo
  readonly agentId: string
}

/**
 * Keeps the content of a file before a call changes it. Returns what to tell the model if its content could not be kept, `''` otherwise.
 * Contract: called when it is the file's turn, just before the change.
 */
export async function keepFile(
  workspace: Workspace,
  change: FileChange & { readonly by?: TreeWriter | undefined },
  context: Pick<ToolContext<unknown, FileReceipt>, 'keep' | 'signal' | 'snapshots'>,
): Promise<string> {
  const { path, after, by } = change
  const { snapshots, signal } = context
  const before = await fileNow(workspace, path, { signal, maxBytes: snapshots.maxFileBytes })
  const lost = before === null ? undefined : await whyNotKept(before, snapshots)
  const made = before === null ? await firstMissing(workspace, path, signal) : undefined
  const [found, wrote] = [before?.hash ?? null, after === null ? null : hashOf(after)]
  const byCommand = by?.tree.leftBy(by.agentId, path) === found
  const receipt: FileReceipt = {
    path,
    before: found,
    after: wrote,
    ...(byCommand ? { byCommand } : {}),
    ...(before === null ? {} : { mode: before.mode }),
    ...(made === undefined ? {} : { made }),
    ...(lost === undefined ? {} : { lost }),
  }
  context.keep(receipt, path)
  by?.tree.wrote(by.agentId, path, wrote)
  return lost === undefined ? '' : `\nThis cannot be undone: ${lost}.`
}

/** Returns the topmost folder of a new file that does not exist yet. */
async function firstMissing(workspace: Workspace, path: string, signal: AbortSignal): Promise<string | undefined> {
  let folder = '.'
  for (const name of path.split('/').slice(0, -1)) {
    folder = inFolder(folder, name)
    if (!(await isThere(workspace, folder, signal))) return folder
  }
  return undefined
}

async function isThere(workspace: Workspace, folder: string, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _ of workspace.list(folder, { signal, limit: 1, deep: false })) break
    return true
  } catch (thrown) {
    if (hasCode(thrown, 'WORKSPACE_MISSING')) return false
    throw thrown
  }
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
  readonly tool: {
    readonly effects: 'reversible'
    readonly receipt: ReturnType<typeof fileReceiptSchema>
    undo(context: UndoContext<unknown, FileReceipt>): Promise<void>
  }
  /** Returns the writer for `keepFile`, if commands are undone too. */
  writer(context: Pick<ToolContext, 'agent'>): TreeWriter | undefined
}

export const fileUndo = (use: WorkspaceUse, tree: TreeUndo | undefined): FileUndo => ({
  tool: { effects: 'reversible', receipt: fileReceiptSchema(), undo: (context) => undoFile(use, context) },
  writer: ({ agent }) => (tree === undefined ? undefined : { tree, agentId: agent.id }),
})

/**
 * Restores a file to its state before the oldest of these calls, or before the oldest since a command changed it: the command comes next, and then
 * the older calls. Changes nothing and rejects, with the reason, when it is no longer as the
 * newest call left it, when something else changed it in between, or when its content is no longer kept.
 */
export async function undoFile(
  use: Pick<WorkspaceUse, 'of' | 'spell'>,
  context: UndoContext<unknown, FileReceipt>,
): Promise<void> {
  const { receipt, earlier, signal } = context
  const { path } = receipt
  const workspace = use.of(context)
  if (use.spell(path, 'file') !== path) throw new Error('something else stands at its path now')
  const chain = [receipt, ...earlier.filter((one) => one.path === path)]
  const gap = chain.findIndex(({ before }, index) => index + 1 < chain.length && before !== chain[index + 1]!.after)
  const isByCommand = chain[gap]?.byCommand === true
  const oldest = isByCommand ? chain[gap]! : chain.at(-1)!
  await inTurn(workspace, path, async () => {
    const now = (await stateNow(workspace, path, signal))?.hash ?? null
    if (now !== oldest.before) {
      if (now !== receipt.after) throw new Error(now === null ? 'it is gone' : 'it was changed by something else since')
      if (gap !== -1 && !isByCommand) throw new Error('it was changed by something else in between')
      await restore(workspace, oldest, { now, context })
    }
    const undone = chain.slice(0, chain.indexOf(oldest) + 1)
    if (oldest.before === null) for (const { made } of undone) await removeEmpty(workspace, made, { path, signal })
  })
}

async function stateNow(workspace: Workspace, path: string, signal: AbortSignal): Promise<FileNow | null> {
  try {
    return await fileNow(workspace, path, { signal, maxBytes: 0 })
  } catch (thrown) {
    throw hasCode(thrown, 'WORKSPACE_KIND')
      ? new Error('something that is no regular file stands there', { cause: thrown })
      : thrown
  }
}

async function restore(
  workspace: Workspace,
  { path, before, mode, lost }: FileReceipt,
  { now, context: { snapshots, signal } }: { now: string | null; context: UndoContext<unknown, FileReceipt> },
): Promise<void> {
  if (lost !== undefined) throw new Error(lost)
  if (!(await isThere(workspace, folderOf(path), signal))) throw new Error('its folder is gone')
  if (before === null) return await workspace.remove(path, { signal })
  const bytes = await snapshots.get(before)
  if (bytes === undefined) throw new Error('what it was before is no longer kept')
  await workspace.write(path, bytes, { signal, expect: now, ...(mode === undefined ? {} : { mode }) })
}

/** Removes the folders that were made for a file, from the innermost, as far as they are empty. */
async function removeEmpty(
  workspace: Workspace,
  made: string | undefined,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<void> {
  if (made === undefined) return
  try {
    for (let folder = folderOf(path); folder.length >= made.length; folder = folderOf(folder))
      await workspace.remove(folder, { signal })
  } catch {
    // Something else is in it, or it is gone.
  }
}
