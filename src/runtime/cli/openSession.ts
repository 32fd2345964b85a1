import { join, resolve } from 'node:path'
import { defineAgent, type AgentOptions } from '../../actors/defineAgent.ts'
import { workspaceTools } from '../../actors/tools/workspace/workspaceTools.ts'
import type { Agent } from '../agent.ts'
import { createRuntime } from '../runtime.ts'
import { fileStore } from '../stores/fileStore.ts'
import type { ModelChoice } from './models/chooseModel.ts'
import { recordFolder } from './recordFolder.ts'

/** An agent that works in a folder, and where it is recorded. */
export interface Session {
  readonly agent: Agent
  readonly dir: string
  readonly logFile: string
  close(): Promise<void>
}

export interface SessionOptions {
  readonly dir: string
  /** Where the log goes. Default: `.escapement` in `dir`. */
  readonly recordIn?: string
  readonly choice: ModelChoice
  /** Which commands wait for an approval. */
  needsApproval(command: string): boolean
  /** Added to the environment of commands. */
  readonly env?: { readonly [name: string]: string }
  /** Off by default. */
  readonly braking?: NonNullable<AgentOptions['braking']>
  /** Id of a session to go on with, in place of a new one. It stands still until it is told to go on. */
  readonly resume?: string
}

/** Name of the agent's definition: only its sessions can be gone on with from the command line. */
export const cliAgentName = 'coder'

/** Turns a run may take: a bound for a model that goes round in circles; the run pauses there. */
const maxTurns = 200

const instructionsFor = (dir: string): string =>
  `You are a coding agent working in the folder ${dir} with tools. Look before you change anything, make the smallest change that does the task, ` +
  `run the tests after every change, and say at the end what you changed and how you checked it. Paths are relative to the folder.`

/**
 * Starts a coding agent in a folder, or goes on with one, and records it in `.escapement` there with every request it makes.
 *
 * @throws RuntimeError `INVALID_OPTION` when `dir` is no folder, `STORE_OPEN_FAILED` when it cannot be written, and what
 * `runtime.resume` throws.
 */
export async function openSession({
  dir: given,
  recordIn,
  choice,
  needsApproval,
  env = {},
  braking = {},
  resume,
}: SessionOptions): Promise<Session> {
  const dir = resolve(given)
  const tools = workspaceTools(dir, {
    needsApproval: { run_command: ({ command }) => needsApproval(command) },
    // Output for a program to read, also where this runs inside node's own test runner.
    env: { NO_COLOR: '1', FORCE_COLOR: undefined, NODE_TEST_CONTEXT: undefined, ...env },
  })
  const folder = recordIn ?? join(dir, '.escapement')
  if (resume === undefined) recordFolder(folder)
  const definition = defineAgent({
    name: cliAgentName,
    model: choice.model,
    instructions: instructionsFor(dir),
    tools,
    limits: { turns: maxTurns },
    braking,
    captureTurnRequests: true,
    // The embedded model reads what it did from the whole conversation, and sends an undo and the next edit together.
    ...(choice.isEmbedded ? { compaction: false, toolExecution: 'sequential', pricing: { input: 0, output: 0 } } : {}),
  })
  const runtime = await createRuntime({ store: fileStore(folder) })
  try {
    const agent =
      resume === undefined
        ? await runtime.spawn(definition)
        : await runtime.resume(resume, definition, { continue: false })
    return { agent, dir, logFile: join(folder, `${agent.id}.jsonl`), close: () => runtime.close() }
  } catch (thrown) {
    await runtime.close()
    throw thrown
  }
}
