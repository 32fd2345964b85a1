import { dirname, join, resolve } from 'node:path'
import { nanoid } from 'nanoid'
import type { AgentDefinition } from '../actors/agentDefinition.ts'
import { defineAgent, type AgentOptions } from '../actors/defineAgent.ts'
import type { Tool } from '../actors/tools/defineTool.ts'
import { workspaceTools } from '../actors/tools/workspace/workspaceTools.ts'
import type { Agent } from '../runtime/agents/agent.ts'
import { createRuntime, type Runtime } from '../createRuntime.ts'
import { fileStore } from '../stores/fileStore.ts'
import type { CliHost } from './cliHost.ts'
import type { ModelChoice } from './models/chooseModel.ts'
import { cliAgentName, instructionsFor } from './ownSession.ts'
import { recordFolder } from './recordFolder.ts'
import { howToResume } from './sessionLogs.ts'

/** An agent that works in a folder, and its log. */
export interface Session {
  readonly agent: Agent
  readonly runtime: Runtime
  readonly definition: AgentDefinition
  readonly dir: string
  readonly logFile: string
  close(): Promise<void>
}

export interface CoderOptions {
  readonly dir: string
  readonly choice: ModelChoice
  /** Which commands wait for an approval. */
  needsApproval(command: string): boolean
  /** Added to the environment of commands. */
  readonly env?: { readonly [name: string]: string }
  /** Off by default. */
  readonly braking?: NonNullable<AgentOptions['braking']>
  /** Beside those for the folder. */
  readonly tools?: readonly Tool[]
  /** Most turns of a run. Default 200, in case a model goes round in circles; the run then pauses. */
  readonly maxTurns?: number
  /** Name of the definition. Default: that of the command line's own agent. */
  readonly name?: string
}

export interface SessionOptions extends CoderOptions {
  /** Where the log goes. Default: `.escapement` in `dir`. */
  readonly recordIn?: string
  /** Id of a session to continue instead of starting a new one. It stays paused until it is resumed. */
  readonly resume?: string
}

const usualTurns = 200

/**
 * Starts or continues a coding agent in a folder, and records it in `.escapement` there with every request it makes.
 *
 * @throws RuntimeError `INVALID_OPTION` if `dir` is not a folder, `STORE_OPEN_FAILED` if it cannot be written, and what
 * `runtime.resume` throws.
 */
export async function openSession({ recordIn, resume, ...options }: SessionOptions): Promise<Session> {
  const dir = resolve(options.dir)
  const folder = recordIn ?? join(dir, '.escapement')
  const definition = defineCoder({ ...options, dir })
  if (resume === undefined) recordFolder(folder)
  const runtime = await createRuntime({ store: fileStore(folder) })
  try {
    const agent =
      resume === undefined
        ? await runtime.spawn(definition, { id: `coder-${nanoid(12)}` })
        : await runtime.resume(resume, definition, { continue: false })
    const logFile = join(folder, `${agent.id}.jsonl`)
    return { agent, runtime, definition, dir, logFile, close: () => runtime.close() }
  } catch (thrown) {
    await runtime.close()
    throw thrown
  }
}

/** The command that continues a session, as typed in the current folder. */
export function resumeHint({ agent, dir, logFile }: Session, { cwd }: Pick<CliHost, 'cwd'>): string {
  const logs = dirname(logFile)
  const place = {
    dir: dir === cwd() ? undefined : dir,
    logs: logs === join(dir, '.escapement') ? undefined : logs,
  }
  return `go on with: ${howToResume(agent.id, place)}`
}

/** An agent that works in a folder with tools. @throws RuntimeError `INVALID_OPTION` if `dir` is not a folder. */
export function defineCoder({
  dir,
  choice,
  needsApproval,
  env = {},
  braking = {},
  tools: others = [],
  name = cliAgentName,
  maxTurns = usualTurns,
}: CoderOptions): AgentDefinition {
  const tools = workspaceTools(dir, {
    needsApproval: { run_command: ({ command }) => needsApproval(command) },
    // Makes node's test runner print machine-readable output, even when this process runs inside it.
    env: { NO_COLOR: '1', FORCE_COLOR: undefined, NODE_TEST_CONTEXT: undefined, ...env },
  })
  return defineAgent({
    name,
    model: choice.model,
    instructions: instructionsFor(dir),
    tools: [...tools, ...others],
    limits: { turns: maxTurns },
    braking,
    captureTurnRequests: true,
    // The embedded model relies on the whole conversation, and sends an undo together with the next edit.
    ...(choice.isEmbedded ? { compaction: false, toolExecution: 'sequential', pricing: { input: 0, output: 0 } } : {}),
  })
}
