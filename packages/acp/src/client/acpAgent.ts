import { resolve } from 'node:path'
import { z } from 'zod'
import type { RemoteAgentEntry } from '../../../../src/actors/parts/remote/remoteEntry.ts'
import { remoteShape, type RemoteOptions } from '../../../remote/src/remoteAgent.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { checkedBy, RuntimeError } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Workspace } from '../../../tools/src/workspace/port.ts'
import { remoteAgent } from '../../../remote/src/remoteTool.ts'
import { namesOf } from './askPeople.ts'

/** Options of a foreign agent that speaks the Agent Client Protocol over its standard streams. */
export interface AcpAgentOptions extends RemoteOptions {
  /** Program to run, without a shell. It gets a few variables of this process, such as `PATH` and `HOME`, and those of `env`. */
  readonly command: string
  readonly args?: readonly string[] | undefined
  readonly env?: { readonly [name: string]: string } | undefined
  /** Working folder of the program. Default: that of this process. */
  readonly cwd?: string | undefined
  /**
   * The files and commands that it gets when it asks for them instead of using its own. Default: the folder `cwd`. `null`: it is offered none. It confines
   * only what the agent asks for: its own tools reach whatever its process reaches.
   */
  readonly workspace?: Workspace | null | undefined
  /**
   * Keeps what the files were that the agent has the workspace write, as `workspaceTools` does, so that a revert with `undo` puts them back. What else it
   * was allowed to do is named then, and stays. Default false.
   */
  readonly snapshots?: boolean | undefined
  /** Id of the agent's sign-in method to use before a session begins. Default: none. */
  readonly authMethod?: string | undefined
  /** Milliseconds to wait for each answer until the session is open. Default 60,000. */
  readonly startMs?: number | undefined
}

const isWorkspace = (value: unknown): value is Workspace =>
  typeof value === 'object' && value !== null && 'exec' in value && 'root' in value

const optionsSchema = lazily(() =>
  onlyFields({
    ...remoteShape(),
    command: z.string().min(1, 'name the program'),
    args: z.array(z.string()).readonly().default([]),
    env: z.record(z.string(), z.string()).default({}),
    cwd: z.string().min(1).default('.'),
    workspace: z.custom<Workspace>(isWorkspace, 'give a Workspace, or null').nullable().optional(),
    snapshots: z.boolean().default(false),
    authMethod: z.string().min(1).optional(),
    startMs: z.number().positive().default(60_000),
  }),
)

/**
 * Lets an agent call a foreign agent of the Agent Client Protocol, such as a coding agent of another vendor: an entry of its `agents`. The model sees a
 * tool that takes a task. Each call has a process and a session of its own; permissions that the agent asks for are approvals of the caller.
 *
 * @throws RuntimeError `INVALID_DEFINITION`
 *
 * @example
 * ```ts
 * import { acpAgent } from 'escapement/acp'
 *
 * const codex = acpAgent({ name: 'codex', description: 'Changes code.', command: 'codex-acp', cwd: '.' })
 * const lead = defineAgent({ name: 'lead', model, agents: [codex] })
 * ```
 */
export function acpAgent(options: AcpAgentOptions): RemoteAgentEntry {
  const { restart, maxRestarts, windowMs, backoffMs, command, args, env, authMethod, startMs, ...entry } = checkedBy(
    optionsSchema(),
    options,
    'acpAgent',
    'INVALID_DEFINITION',
  )
  const { workspace, cwd: folder, snapshots, ...shared } = entry
  if (snapshots && workspace === null)
    throw new RuntimeError(
      'INVALID_DEFINITION',
      'acpAgent: snapshots: an agent without a workspace writes nothing by it.',
    )
  const cwd = resolve(folder)
  const place = async (): Promise<Workspace | undefined> => {
    if (workspace !== undefined) return workspace ?? undefined
    const { localWorkspace } = await import('../../../tools/src/workspace/localWorkspace.ts')
    return localWorkspace(cwd)
  }
  const process = { command, args, env, cwd, authMethod, startMs, name: shared.name }
  return remoteAgent({
    ...shared,
    protocol: 'acp',
    restarts: { restart, maxRestarts, windowMs, backoffMs },
    asks: namesOf(shared.name),
    run: async (task, host) => {
      // Pages and editors that load this door start no processes.
      const [{ AcpLife }, files] = await Promise.all([import('./acpLife.ts'), place()])
      return new AcpLife({ ...process, workspace: files, isKept: snapshots }, task, host).run()
    },
    ...(snapshots
      ? {
          undo: async (kept, context) => {
            const [{ undoWrites }, files] = await Promise.all([import('./undoWrites.ts'), place()])
            await undoWrites(files!, kept, context)
          },
        }
      : {}),
  })
}
