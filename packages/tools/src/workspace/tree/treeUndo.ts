import { z } from 'zod'
import { hasCode, messageOf } from '../../../../../src/protocol/errors.ts'
import { lazily } from '../../../../../src/protocol/lazily.ts'
import { oneLine } from '../../../../../src/protocol/text/cutMiddle.ts'
import type { ToolContext, UndoContext } from '../../../../../src/actors/tools/defineTool.ts'
import { inTurn } from '../../../../../src/actors/timing/inTurn.ts'
import { Contents } from './contents.ts'
import { leftPhrase, restoreTree } from './restoreTree.ts'
import { takeTree } from './takeTree.ts'
import { changesBetween, keepChanges, readChanges, type TreeChange } from './treeChanges.ts'
import type { Tree } from './treeEntry.ts'

/** Limits on examining a folder, which undoing commands requires. */
export interface TreeOptions {
  /** Folders that are left out, by name anywhere or by path. Folders named `.escapement` are always left out. */
  readonly exclude?: readonly string[]
  /** Maximum number of files and folders in the folder. Default 200,000. */
  readonly maxFiles?: number
  /** Maximum number of bytes in the folder's files. Default 1 GiB. */
  readonly maxBytes?: number
}

/** Receipt of a command: the number of paths it changed, and where the changes are kept. */
const receiptSchema = lazily(() =>
  z.object({
    changes: z.int(),
    /** Id of the stored changes, if there are any. */
    tree: z.string().optional(),
    /** Reason why the command cannot be undone. */
    lost: z.string().optional(),
    /** Key of a call that is still running. Only its process learns its final changes. */
    atWork: z.string().optional(),
  }),
)
type TreeReceipt = z.output<ReturnType<typeof receiptSchema>>

type Caller = Pick<ToolContext, 'agent' | 'key' | 'signal' | 'snapshots' | 'keep' | 'closeWith' | 'background'>

/** A running command. */
interface Bracket {
  readonly agentId: string
  /** Reason why the changes of the command cannot be determined. */
  lost: string | undefined
  /** Hashes of files that file tools wrote meanwhile, by path; `null` for one that was deleted. */
  readonly wrote: Map<string, string | null>
}

/** Undoes the changes of commands in a folder. */
export interface TreeUndo {
  /** The parts of a tool that make its effects reversible. */
  readonly tool: {
    readonly effects: 'reversible'
    readonly receipt: ReturnType<typeof receiptSchema>
    undo(context: UndoContext<unknown, TreeReceipt>): Promise<void>
  }
  /** Runs a command and stores the folder's changes across it. The text says so if they cannot be undone. */
  around(command: string, context: Caller, run: () => Promise<string>): Promise<string>
  /** Notes that a file tool wrote a file. */
  wrote(agentId: string, path: string, hash: string | null): void
  /** Returns the hash of a file as a command of this agent left it here; `null` if it deleted the file, `undefined` if none did either. */
  leftBy(agentId: string, path: string): string | null | undefined
}

const together = 'another call was at work in the workspace at the same time'
/** Common name of commands that changed nothing, which would otherwise fill the note of an undo. */
const nothing = 'commands that changed no file'
const unknown: TreeReceipt = { changes: 0, lost: 'it was cut short, and it is not known what it did' }
const gib = 1024 * 1024 * 1024

/**
 * Undoes commands in a real folder of this machine. Changes are found by comparing the folder before and
 * after a command. Commands of one agent wait for one another, so that each change has one cause.
 */
export function treeUndo(root: string, { exclude = [], maxFiles = 200_000, maxBytes = gib }: TreeOptions): TreeUndo {
  const contents = new Contents()
  const skipped = new Set(['.escapement', ...exclude])
  const active = new Set<Bracket>()
  const left = new Map<string, Map<string, string | null>>()
  /** Outcomes of aborted commands, by the keys of their calls. */
  const ends = new Map<string, TreeReceipt>()
  let tree: Tree | undefined
  let users = 0

  const forget = (): void => {
    tree = undefined
    contents.close()
  }
  const take = (context: Caller): Promise<Tree> =>
    inTurn(contents, 'take', async () => {
      const { signal, snapshots } = context
      const limits = { maxFiles, maxBytes, maxFileBytes: snapshots.maxFileBytes }
      tree = await takeTree(root, { before: tree, contents, exclude: skipped, limits, signal })
      return tree
    })
  const closer = {
    async close() {
      if (--users > 0 || active.size > 0) return
      left.clear()
      ends.clear()
      forget()
    },
  }

  /** Notes a running call. Changes of other calls can then no longer be told apart. */
  function begin({ agent }: Pick<Caller, 'agent'>, lost: string | undefined): Bracket {
    for (const one of active) one.lost = together
    const bracket: Bracket = { agentId: agent.id, lost, wrote: new Map() }
    active.add(bracket)
    return bracket
  }

  async function bracketed(command: string, context: Caller, run: () => Promise<string>): Promise<string> {
    const { signal, key } = context
    // Unless it begins, it has done nothing.
    ends.set(key, { changes: 0 })
    signal.throwIfAborted()
    if (context.closeWith(closer, 'runtime')) users += 1
    // Most of it belongs to no file any more.
    if (active.size === 0 && contents.size > 2 * maxBytes) forget()
    const bracket = begin(context, active.size > 0 ? together : undefined)
    try {
      const before = await take(context).catch((thrown: unknown) => lose(bracket, context, thrown))
      const of = nameOf(command)
      if (before === undefined) context.keep({ changes: 0, lost: bracket.lost! }, of)
      ends.delete(key)
      const end = await run().then(
        (text) => ({ text }),
        (thrown: unknown) => ({ thrown }),
      )
      if (before !== undefined) {
        const receipt = await receiptOf(before, bracket, context)
        if (signal.aborted) ends.set(key, receipt)
        else context.keep(receipt, receipt.changes === 0 && receipt.lost === undefined ? nothing : of)
      }
      const note = bracket.lost === undefined ? '' : `\nThis cannot be undone: ${bracket.lost}.`
      if ('text' in end) return end.text + note
      throw note === '' || !(end.thrown instanceof Error)
        ? end.thrown
        : Object.assign(new Error(end.thrown.message + note, { cause: end.thrown }), codeOf(end.thrown))
    } finally {
      active.delete(bracket)
    }
  }

  /** Stores the differences from the earlier tree. Continues when the call is aborted, whose result then has only its key. */
  async function receiptOf(before: Tree, bracket: Bracket, context: Caller): Promise<TreeReceipt> {
    const { signal } = new AbortController()
    const after = await take({ ...context, signal }).catch((thrown: unknown) =>
      lose(bracket, { ...context, signal }, thrown),
    )
    const found = after === undefined ? [] : changesBetween(before, after)
    const changes = found.filter((change) => !isOfFileTool(bracket, change))
    if (after !== undefined && changes.length === 0) {
      bracket.lost = undefined
      return { changes: 0 }
    }
    noteLeft(bracket.agentId, changes)
    if (bracket.lost !== undefined) return { changes: changes.length, lost: bracket.lost }
    try {
      return { changes: changes.length, tree: await keepChanges(changes, contents, context.snapshots) }
    } catch (thrown) {
      bracket.lost = `what the files were before could not be kept: ${messageOf(thrown)}`
      return { changes: changes.length, lost: bracket.lost }
    }
  }

  function noteLeft(agentId: string, changes: readonly TreeChange[]): void {
    const own = left.get(agentId) ?? new Map<string, string | null>()
    left.set(agentId, own)
    for (const { path, after } of changes) own.set(path, (after?.type === 'file' ? after.hash : undefined) ?? null)
  }

  return {
    tool: {
      effects: 'reversible',
      receipt: receiptSchema(),
      undo: (context) =>
        inTurn(contents, turnOf(context), async () => {
          const bracket = begin(context, together)
          const { receipt } = context
          const known = receipt.atWork === undefined ? receipt : ends.get(receipt.atWork)
          await undoCommand(root, { ...context, receipt: known ?? unknown }).finally(() => active.delete(bracket))
        }),
    },
    around: (command, context, run) => {
      if (context.background !== undefined) return inBackground(command, context, run)
      // Before it acts: a call that fails and has kept nothing is taken to have done nothing.
      context.keep({ changes: 0, atWork: context.key }, nameOf(command))
      return inTurn(contents, turnOf(context), () => bracketed(command, context, run))
    },
    wrote: (agentId, path, hash) => {
      left.get(agentId)?.delete(path)
      for (const bracket of active) bracket.wrote.set(path, hash)
    },
    leftBy: (agentId, path) => left.get(agentId)?.get(path),
  }

  /** Runs a command in the background, where it may run for hours beside all others. */
  async function inBackground(command: string, context: Caller, run: () => Promise<string>): Promise<string> {
    const bracket = begin(context, 'it was at work in the background')
    context.keep({ changes: 0, lost: bracket.lost! }, nameOf(command))
    try {
      return await run()
    } finally {
      active.delete(bracket)
    }
  }
}

/** Returns the name of a command's changes in the ledger of an undo. */
const nameOf = (command: string): string => `files changed by ${oneLine(command, 100)}`

const turnOf = ({ agent }: Pick<Caller, 'agent'>): string => `agent ${agent.id}`

const isOfFileTool = ({ wrote }: Bracket, { path, after }: TreeChange): boolean => {
  const hash = wrote.get(path)
  return hash !== undefined && hash === (after?.type === 'file' ? after.hash : null)
}

const codeOf = (thrown: Error): object => ('code' in thrown ? { code: thrown.code } : {})

/** Notes why the folder could not be examined. Throws the reason of an abort. */
function lose(bracket: Bracket, { signal }: Caller, thrown: unknown): undefined {
  signal.throwIfAborted()
  const why = messageOf(thrown).replace(/\.$/, '')
  bracket.lost = `${hasCode(thrown, 'TREE_TOO_LARGE') ? 'TREE_TOO_LARGE' : 'the workspace could not be looked at'}: ${why}`
}

async function undoCommand(
  root: string,
  { receipt, snapshots, signal }: UndoContext<unknown, TreeReceipt>,
): Promise<void> {
  if (receipt.lost !== undefined) throw new Error(receipt.lost)
  if (receipt.changes === 0) return
  const kept = await readChanges(receipt.tree ?? '', snapshots)
  if (kept === undefined) throw new Error('what the files were before is no longer kept')
  const left = await restoreTree({ ...kept, root, maxFileBytes: snapshots.maxFileBytes, signal })
  if (left.length === 0) return
  const isNone = left.length >= kept.changes.length
  throw new Error(isNone ? leftPhrase(left) : `all else is as before, but not ${leftPhrase(left)}`)
}
