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

/** Bounds of the look at a folder that undoing commands needs. */
export interface TreeOptions {
  /** Folders that are left out: by their name wherever they are, or by their path. Always left out: `.escapement`. */
  readonly exclude?: readonly string[]
  /** Maximum number of files and folders. Default 200,000. */
  readonly maxFiles?: number
  /** Maximum number of bytes in its files. Default 1 GiB. */
  readonly maxBytes?: number
}

/** Receipt of a command: how many paths it changed, and where the change is kept. */
const receiptSchema = lazily(() =>
  z.object({
    changes: z.int(),
    /** Id of what is kept, if something changed. */
    tree: z.string().optional(),
    /** Why it cannot be undone. */
    lost: z.string().optional(),
    /** Key of a call that is still at work: only its process knows what it has done in the end. */
    atWork: z.string().optional(),
  }),
)
type TreeReceipt = z.output<ReturnType<typeof receiptSchema>>

type Caller = Pick<ToolContext, 'agent' | 'key' | 'signal' | 'snapshots' | 'keep' | 'closeWith' | 'background'>

/** A command at work. */
interface Bracket {
  readonly agentId: string
  /** Why it cannot be told what the command did. */
  lost: string | undefined
  /** Hashes of files that file tools wrote meanwhile, by path; `null` for one that was deleted. */
  readonly wrote: Map<string, string | null>
}

/** Undoes what commands did to a folder. */
export interface TreeUndo {
  /** The parts of a tool that make its effects reversible. */
  readonly tool: {
    readonly effects: 'reversible'
    readonly receipt: ReturnType<typeof receiptSchema>
    undo(context: UndoContext<unknown, TreeReceipt>): Promise<void>
  }
  /** Runs a command between two looks at the folder, and keeps what it changed. The text says so if it cannot be undone. */
  around(command: string, context: Caller, run: () => Promise<string>): Promise<string>
  /** Notes that a file tool wrote a file. */
  wrote(agentId: string, path: string, hash: string | null): void
  /** The hash of a file as a command of this agent left it, in this process; `null` if it deleted it, `undefined` if none did. */
  leftBy(agentId: string, path: string): string | null | undefined
}

const together = 'another call was at work in the workspace at the same time'
/** Commands that changed nothing have one name: they would fill the note of an undo. */
const nothing = 'commands that changed no file'
const unknown: TreeReceipt = { changes: 0, lost: 'it was cut short, and it is not known what it did' }
const gib = 1024 * 1024 * 1024

/**
 * Undoes commands in a real folder of this machine. What a command changed is known from the folder before and after it; commands of one agent wait for one
 * another, so that it is known which one it was.
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

  /** Notes a call at work: of the others it is no longer known what they do. */
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

  /** Keeps what differs from the tree before. Goes on when the call is aborted, whose result then has only its key. */
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

  /** Commands there may be at work for hours, beside all others. */
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

/** The changes of a command, as the ledger of an undo names them. */
const nameOf = (command: string): string => `files changed by ${oneLine(command, 100)}`

const turnOf = ({ agent }: Pick<Caller, 'agent'>): string => `agent ${agent.id}`

const isOfFileTool = ({ wrote }: Bracket, { path, after }: TreeChange): boolean => {
  const hash = wrote.get(path)
  return hash !== undefined && hash === (after?.type === 'file' ? after.hash : null)
}

const codeOf = (thrown: Error): object => ('code' in thrown ? { code: thrown.code } : {})

/** Notes why the folder could not be looked at. Throws the reason of an abort. */
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
