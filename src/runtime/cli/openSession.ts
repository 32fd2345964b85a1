import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineAgent, type AgentOptions } from '../../actors/defineAgent.ts'
import { workspaceTools } from '../../actors/tools/workspace/workspaceTools.ts'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { Agent } from '../agent.ts'
import { createRuntime } from '../runtime.ts'
import { fileStore } from '../stores/fileStore.ts'
import type { ModelChoice } from './models/chooseModel.ts'

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
}

/** Turns a run may take: a bound for a model that goes round in circles; the run pauses there. */
const maxTurns = 200

const instructionsFor = (dir: string): string =>
  `You are a coding agent working in the folder ${dir} with tools. Look before you change anything, make the smallest change that does the task, ` +
  `run the tests after every change, and say at the end what you changed and how you checked it. Paths are relative to the folder.`

/**
 * Starts a coding agent in a folder and records it in `.escapement` there.
 *
 * @throws RuntimeError `INVALID_OPTION` when `dir` is no folder, `STORE_OPEN_FAILED` when it cannot be written.
 */
export async function openSession({
  dir: given,
  recordIn,
  choice,
  needsApproval,
  env = {},
  braking = {},
}: SessionOptions): Promise<Session> {
  const dir = resolve(given)
  const tools = workspaceTools(dir, {
    needsApproval: { run_command: ({ command }) => needsApproval(command) },
    // Output for a program to read, also where this runs inside node's own test runner.
    env: { NO_COLOR: '1', FORCE_COLOR: undefined, NODE_TEST_CONTEXT: undefined, ...env },
  })
  const folder = recordFolder(recordIn ?? join(dir, '.escapement'))
  const definition = defineAgent({
    name: 'coder',
    model: choice.model,
    instructions: instructionsFor(dir),
    tools,
    limits: { turns: maxTurns },
    braking,
    // The embedded model reads what it did from the whole conversation, and sends an undo and the next edit together.
    ...(choice.isEmbedded ? { compaction: false, toolExecution: 'sequential', pricing: { input: 0, output: 0 } } : {}),
  })
  const runtime = await createRuntime({ store: fileStore(folder) })
  try {
    const agent = await runtime.spawn(definition)
    return { agent, dir, logFile: join(folder, `${agent.id}.jsonl`), close: () => runtime.close() }
  } catch (thrown) {
    await runtime.close()
    throw thrown
  }
}

/** Makes the folder of the logs; git is told to leave it alone. */
function recordFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '.gitignore'), '*\n')
  } catch (thrown) {
    throw new RuntimeError(
      'STORE_OPEN_FAILED',
      `The conversation cannot be recorded in ${folder}: ${messageOf(thrown)}.`,
      { cause: thrown },
    )
  }
  return folder
}
