import { tell } from '../terminal/wordWrap.ts'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileRules } from '../../../stores/src/fileRules.ts'
import type { RuleStore } from '../../../../src/protocol/ports/ruleStore.ts'
import { chosenAgent } from '../config/configAgents.ts'
import { loadConfig } from '../config/loadConfig.ts'
import type { LoadedConfig } from '../config/readConfig.ts'
import { isInteractive, type CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { chooseModel, type ModelChoice } from '../models/chooseModel.ts'
import { storePlace } from '../config/storePlace.ts'
import { openSession, type Session, type SessionOptions } from './openSession.ts'

/** Milliseconds between the embedded model's words when a person watches. */
export const wordDelayMs = 12

/** Returns the configuration's settings for a session. */
export const settingsOf = (
  config: LoadedConfig | undefined,
): Pick<SessionOptions, 'tools' | 'limits' | 'memory' | 'recordIn' | 'runtime'> => ({
  ...(config?.tools === undefined ? {} : { tools: config.tools }),
  ...(config?.limits === undefined ? {} : { limits: config.limits }),
  ...(config?.memory === undefined ? {} : { memory: config.memory }),
  ...(config?.logs === undefined ? {} : { recordIn: storePlace(config.logs, '.') }),
  runtime: {
    ...(config?.redact === undefined ? {} : { redact: config.redact }),
    ...(config?.modelLimits === undefined ? {} : { models: config.modelLimits }),
  },
})

/** Returns the store of a person's rules for a folder. It is outside the folder, where the agent's file tools cannot write. */
export const rulesOf = (dir: string, { env }: Pick<CliHost, 'env'>): RuleStore =>
  fileRules(join(env['HOME'] ?? homedir(), '.escapement', 'rules.jsonl'), { folder: dir })

/** Returns true if the costs of an agent are known. */
export const isPriced = ({ pricing, prices }: Session['definition']): boolean => pricing !== null || prices !== null

/** Result of starting a session of `run` or `chat`. */
export interface Work {
  readonly session: Session
  readonly modelId: string
  readonly isPriced: boolean
}

/**
 * Begins a session of the agent for a person to work with: one of the configuration, or else the coding agent for the folder.
 *
 * @throws RuntimeError as `loadConfig`, `chooseModel` and `openSession`.
 */
export async function openWork(invocation: Invocation, host: CliHost): Promise<Work> {
  const { dir = '.', model: asked, json, yes, agent } = invocation
  const config = await loadConfig(invocation, host)
  const isWatched = !json && isInteractive(host) && invocation.command === 'chat'
  const choice = await chooseModel({
    asked,
    env: host.env,
    dir: host.cwd(),
    wordDelayMs: isWatched ? wordDelayMs : 0,
    config,
  })
  const definition = chosenAgent(config, agent, choice.model)
  sayChoice(choice, definition, host)
  const session = await openSession({
    dir,
    choice,
    needsApproval: () => !yes,
    rules: rulesOf(dir, host),
    definition,
    onGuideTrouble: guideTrouble(definition === undefined || config?.agentsMd === true, host),
    ...settingsOf(config),
  })
  return { session, modelId: session.definition.model.id, isPriced: isPriced(session.definition) }
}

/** Returns the callback for trouble with `AGENTS.md` files, for an agent that gets them: the coding agent, and others by `agentsMd`. */
export const guideTrouble = (isTold: boolean, { stderr }: Pick<CliHost, 'stderr'>): SessionOptions['onGuideTrouble'] =>
  isTold ? (trouble) => tell(stderr, `${trouble}\n`) : undefined

/** Prints the reason why the model was chosen, if the agent uses it. */
export function sayChoice(
  { notice, model }: ModelChoice,
  definition: Session['definition'] | undefined,
  { stderr }: Pick<CliHost, 'stderr'>,
): void {
  if (notice !== undefined && (definition === undefined || definition.model === model)) tell(stderr, `${notice}\n`)
}
