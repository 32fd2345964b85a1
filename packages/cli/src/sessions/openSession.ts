import { join, resolve } from 'node:path'
import { nanoid } from 'nanoid'
import type { RuleStore } from '../../../../src/protocol/ports/ruleStore.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { AgentOptions } from '../../../../src/actors/define/defineAgent.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import type { ToolEntry } from '../../../../src/actors/define/toolEntries.ts'
import { agentsMd, type AgentsMdMessage } from '../../../tools/src/workspace/agentsMd.ts'
import type { Memory } from '../../../../src/protocol/ports/memory.ts'
import { openMemory } from './openMemory.ts'
import { workspaceTools } from '../../../tools/src/workspace/workspaceTools.ts'
import type { RedactOptions } from '../../../redaction/src/redactor.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { Run } from '../../../../src/protocol/runs/run.ts'
import type { Limits } from '../../../../src/protocol/runs/runLimits.ts'
import type { RuntimeOptions } from '../../../runtime/src/runtimeOptions.ts'
import { createRuntime, type Runtime } from '../../../bridge/src/createRuntime.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { CliHost } from '../cliHost.ts'
import type { ModelChoice } from '../models/chooseModel.ts'
import { cliAgentName, instructionsFor } from '../config/ownSession.ts'
import { recordFolder } from './recordFolder.ts'
import { howToResume } from './sessionLogs.ts'
import { folderPlace, type StorePlace } from '../config/storePlace.ts'

/** An agent that works in a folder, and its log. */
export interface Session {
  readonly agent: Agent
  readonly runtime: Runtime
  readonly definition: AgentDefinition
  readonly dir: string
  readonly place: StorePlace
  readonly store: Store
  /** Location of the log, for a person. */
  readonly logFile: string
  /** Secrets kept out of the log. */
  readonly redact?: RedactOptions
  /** Prompts the agent. The first time, also adds messages from `AGENTS.md` files that it does not have yet. */
  prompt(text: string): Run
  close(): Promise<void>
}

export interface CoderOptions {
  readonly dir: string
  readonly choice: ModelChoice
  /** Returns true if a command waits for an approval. */
  needsApproval(command: string): boolean
  /** Store of people's permanent rules. Default: none, so that no rules decide about calls. */
  readonly rules?: RuleStore
  /** Variables added to the environment of commands. */
  readonly env?: { readonly [name: string]: string }
  /** Brakes. Default: `usualBrakes`, but none for an embedded model, which relies on the whole conversation. */
  readonly braking?: NonNullable<AgentOptions['braking']>
  /** Further tools in addition to those for the folder. */
  readonly tools?: readonly ToolEntry[]
  /** Limits of each run. Default: 200 turns, after which the run pauses, in case the model is in a loop. */
  readonly limits?: Limits
  /** Memory of the folder beyond one conversation. Default: none. */
  readonly knows?: Memory | undefined
  /** Name of the definition. Default: the name of the command line's own agent. */
  readonly name?: string
}

export interface SessionOptions extends CoderOptions {
  /** Definition of the agent, in place of a coding agent for the folder. */
  readonly definition?: AgentDefinition | undefined
  /** Path of the folder's memory. Ignored for a given definition, which has its own. */
  readonly memory?: string
  readonly runtime?: Pick<RuntimeOptions, 'redact' | 'models'>
  /**
   * Enables reading the `AGENTS.md` files that apply to the folder; called with a message for each file that cannot be read. Default: none are read.
   */
  readonly onGuideTrouble?: ((trouble: string) => void) | undefined
  /** Store of the log. Default: `.escapement` in `dir`. */
  readonly recordIn?: StorePlace
  /** Id of a session to continue instead of starting a new one. It stays paused until it is resumed. */
  readonly resume?: string
}

const usualTurns = 200
/** Default brakes, on which a person can rely in every conversation. */
const usualBrakes: NonNullable<AgentOptions['braking']> = { fold: true, revert: { undo: true }, stall: true }
/** Maximum length of the name of a scope. */
const mostName = 256

/**
 * Starts or continues an agent in a folder, by default a coding agent, and records it in `.escapement` there with every request it makes.
 *
 * @throws RuntimeError `INVALID_OPTION` if `dir` is not a folder, `STORE_OPEN_FAILED` if it cannot be written, and the errors of `runtime.resume`.
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { recordIn, resume, definition: given, runtime: shared = {} } = options
  const dir = resolve(options.dir)
  const place = recordIn ?? folderPlace('.escapement', dir)
  const store = await place.open()
  const opened = given === undefined && options.memory !== undefined ? openMemory(options.memory) : undefined
  const definition = given ?? defineCoder({ ...options, dir, knows: opened?.memory })
  if (resume === undefined && place.folder !== undefined) recordFolder(place.folder)
  const runtime = await createRuntime({ store, ...shared })
  try {
    const agent =
      resume === undefined
        ? await runtime.spawn(definition, { id: `${given === undefined ? 'coder' : idStart(given)}-${nanoid(12)}` })
        : await runtime.resume(resume, definition, { continue: false })
    const logFile = place.logOf(agent.id)
    const { onGuideTrouble: onTrouble } = options
    const guides = onTrouble === undefined ? [] : untold(await agentsMd(dir, { onTrouble }), agent)
    const prompt = (text: string): Run => {
      const context = guides.splice(0)
      return agent.prompt(text, context.length === 0 ? {} : { context })
    }
    const close = (): Promise<void> => runtime.close().finally(() => opened?.close())
    const { redact } = shared
    return {
      agent,
      runtime,
      definition,
      dir,
      place,
      store,
      logFile,
      prompt,
      close,
      ...(redact === undefined ? {} : { redact }),
    }
  } catch (thrown) {
    await runtime.close()
    opened?.close()
    throw thrown
  }
}

/** Returns the messages that the conversation lacks in their current form. */
function untold(messages: readonly AgentsMdMessage[], { conversation }: Agent): AgentsMdMessage[] {
  const last = new Map<string, string>()
  for (const { message } of conversation.trunk())
    if (message.role === 'user' && message.provenance?.type === 'identityBlock')
      last.set(message.provenance.name, textOf(message.content))
  return messages.filter(({ content, provenance }) => last.get(provenance.name) !== content)
}

/** Returns the beginning of an agent's id, which must start with a letter or digit. */
const idStart = ({ name }: AgentDefinition): string => name.replace(/^[^A-Za-z0-9]+/, '') || 'agent'

/** Returns the command that continues a session, as typed in the current folder. */
export function resumeCommand(
  { agent, dir, place: { address } }: Pick<Session, 'dir' | 'place'> & { readonly agent: Pick<Agent, 'id'> },
  { cwd }: Pick<CliHost, 'cwd'>,
): string {
  const named = {
    dir: dir === cwd() ? undefined : dir,
    logs: address === join(dir, '.escapement') ? undefined : address,
  }
  return howToResume(agent.id, named)
}

/** Returns a hint on how to continue a session. */
export const resumeHint = (...of: Parameters<typeof resumeCommand>): string => `continue with: ${resumeCommand(...of)}`

/** Defines an agent that works in a folder with tools. @throws RuntimeError `INVALID_OPTION` if `dir` is not a folder. */
export function defineCoder({
  dir,
  choice,
  needsApproval,
  rules,
  env = {},
  braking = choice.isEmbedded ? {} : usualBrakes,
  tools: others = [],
  name = cliAgentName,
  limits = {},
  knows,
}: CoderOptions): AgentDefinition {
  const tools = workspaceTools(dir, {
    needsApproval: {
      run_command: ({ command }) => needsApproval(command),
      // As the command would be that does the same.
      delete_file: ({ path }) => needsApproval(`rm ${path}`),
    },
    // So that /undo brings files back.
    snapshots: true,
    // Makes node's test runner print machine-readable output, even when this process runs inside it.
    env: { NO_COLOR: '1', FORCE_COLOR: undefined, NODE_TEST_CONTEXT: undefined, ...env },
  })
  return defineAgent({
    name,
    model: choice.model,
    instructions: instructionsFor(dir),
    tools: [...tools, ...others],
    limits: { turns: usualTurns, ...limits },
    braking,
    ...(rules === undefined ? {} : { permissions: { store: rules } }),
    ...(knows === undefined ? {} : { memory: { store: knows, workspace: dir.slice(-mostName) } }),
    captureTurnRequests: true,
    // The embedded model relies on the whole conversation, and sends an undo together with the next edit.
    ...(choice.isEmbedded ? { compaction: false, toolExecution: 'sequential', pricing: { input: 0, output: 0 } } : {}),
  })
}
