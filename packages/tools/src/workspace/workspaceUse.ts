import type { ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { inTurn as inTurnOf } from '../../../../src/actors/timing/inTurn.ts'
import { lexicalPath } from './paths.ts'
import { type ExecOptions, isWorkspaceError, type ListOptions, type Workspace, type WorkspaceEntry } from './port.ts'

/** Call of an agent that needs a workspace. */
type Caller = Pick<ToolContext, 'agent' | 'closeWith'>

/** A workspace as its tools use it: one for all agents, or one for each agent. */
export interface WorkspaceUse extends Pick<Workspace, 'description' | 'root' | 'folder'> {
  /** Returns the canonical spelling of a path, by which calls are judged. Throws an error for the model. */
  spell(path: string, of: 'file' | 'folder'): string
  /** Returns the workspace for a call. If it fails with a code other than its own, the call fails, and the next call gets another workspace. */
  of(caller: Caller): Workspace
  /** Ends the processes that a command of a dead process left. */
  endLeft(left: unknown): Promise<void>
}

interface Held {
  workspace: Workspace
  /** Runtimes, or the one agent, that close it. */
  users: number
}

/** Shares a workspace among agents, or gives each agent its own. `isOwn`: each gets one from `anew`. */
export function workspaceUse(given: Workspace, isOwn: boolean): WorkspaceUse {
  const shared: Held = { workspace: given, users: 0 }
  const own = new Map<string, Held>()
  const heldBy = (agentId: string): Held => {
    if (!isOwn) return shared
    const held = own.get(agentId) ?? { workspace: given.anew?.() ?? given, users: 0 }
    own.set(agentId, held)
    return held
  }
  const closing = new WeakMap<Held, { close(): Promise<void> }>()
  const closerOf = (held: Held, agentId: string): { close(): Promise<void> } => {
    const known = closing.get(held)
    if (known !== undefined) return known
    const closer = {
      async close() {
        if (--held.users > 0) return
        if (isOwn) own.delete(agentId)
        const { workspace } = held
        held.workspace = workspace.anew?.() ?? workspace
        await workspace.close()
      },
    }
    closing.set(held, closer)
    return closer
  }
  return {
    description: given.description,
    root: given.root,
    ...(given.folder === undefined ? {} : { folder: given.folder }),
    spell: (path, of) => (given.spell === undefined ? lexicalPath(given.root, path) : given.spell(path, of)),
    of: ({ agent, closeWith }) => {
      const held = heldBy(agent.id)
      if (closeWith(closerOf(held, agent.id), isOwn ? 'agent' : 'runtime')) held.users += 1
      return guarded(held)
    },
    endLeft: async (left) => given.endLeft?.(left),
  }
}

/** Runs `work` after every earlier call for the same path: calls run in parallel, and two edits of one file must not overwrite each other. */
export const inTurn = <T>({ root }: Pick<Workspace, 'root'>, path: string, work: () => Promise<T>): Promise<T> =>
  inTurnOf(turns, `${root}/${path}`, work)

const turns = {}

/** Wraps a workspace so that the first error without a workspace code gives it up. */
function guarded(held: Held): Workspace {
  const { workspace } = held
  const failed = (thrown: unknown, signal: AbortSignal): unknown => {
    if (isWorkspaceError(thrown) || (signal.aborted && thrown === signal.reason)) return thrown
    if (held.workspace === workspace) {
      held.workspace = workspace.anew?.() ?? workspace
      if (held.workspace !== workspace) void workspace.close().catch(() => {})
    }
    return new RuntimeError('WORKSPACE_FAILED', `The workspace failed: ${messageOf(thrown)}.`, { cause: thrown })
  }
  const trying = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (thrown) {
      throw failed(thrown, signal)
    }
  }
  async function* list(path: string, options: ListOptions): AsyncGenerator<WorkspaceEntry, void, undefined> {
    try {
      yield* workspace.list(path, options)
    } catch (thrown) {
      throw failed(thrown, options.signal)
    }
  }
  // Its methods may be those of a class.
  return {
    description: workspace.description,
    root: workspace.root,
    ...(workspace.has === undefined ? {} : { has: workspace.has }),
    close: () => workspace.close(),
    read: (path, options) => trying(options.signal, () => workspace.read(path, options)),
    write: (path, bytes, options) => trying(options.signal, () => workspace.write(path, bytes, options)),
    remove: (path, options) => trying(options.signal, () => workspace.remove(path, options)),
    list,
    exec,
  }
  async function exec(command: string, options: ExecOptions): ReturnType<Workspace['exec']> {
    let refusal: { readonly thrown: unknown } | undefined
    const { started } = options
    const told = async (left: unknown): Promise<void> => {
      try {
        await started?.(left)
      } catch (thrown) {
        refusal = { thrown }
        throw thrown
      }
    }
    try {
      return await workspace.exec(command, started === undefined ? options : { ...options, started: told })
    } catch (thrown) {
      throw refusal?.thrown === thrown && refusal !== undefined ? thrown : failed(thrown, options.signal)
    }
  }
}
