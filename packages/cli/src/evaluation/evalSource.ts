import { resolve } from 'node:path'
import { type AgentDefinition, isAgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentSource } from '../../../evaluation/src/suite/defineSuite.ts'
import { defaultAgent } from '../../../evaluation/src/defaultAgent.ts'
import type { TrialGiven } from '../../../evaluation/src/suite/defineSuite.ts'
import { readSuiteModule } from '../../../evaluation/src/suite/readSuite.ts'
import type { Suite } from '../../../evaluation/src/suite/suite.ts'
import { importModule } from '../../../tools/src/userFiles/importModule.ts'
import type { CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { chosenAgent } from '../config/configAgents.ts'
import { readConfig, type LoadedConfig } from '../config/readConfig.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'

/** The agent to evaluate, and its origin. */
export interface EvalSource {
  readonly source: AgentSource
  /** Module of the agent, and a loader for another version of it. Missing for the built-in agent. */
  readonly origin?: { readonly file: string; load(file: string): Promise<AgentSource> }
}

/**
 * Chooses the agent to evaluate: that of `--definition`, or else of the suite, of the configuration, or the default coding agent.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export async function evalSource(
  { definition, agent }: Pick<Invocation, 'definition' | 'agent'>,
  suite: Suite,
  config: LoadedConfig | undefined,
  host: Pick<CliHost, 'cwd'>,
): Promise<EvalSource> {
  if (definition !== undefined) {
    const load = (file: string): Promise<AgentSource> => moduleSource(file, agent)
    const file = resolve(host.cwd(), definition)
    return { source: await load(file), origin: { file, load } }
  }
  if (suite.definition.agent !== undefined)
    return { source: suite.definition.agent, origin: { file: suite.module!, load: suiteSource } }
  if (config?.agents !== undefined && config.agents.length > 0) {
    const load = async (file: string): Promise<AgentSource> => configSource(await readConfig(file), agent)
    return { source: configSource(config, agent), origin: { file: config.file, load } }
  }
  return { source: defaultAgent }
}

/** Loads the agent from another version of a suite. */
async function suiteSource(file: string): Promise<AgentSource> {
  const { agent } = await readSuiteModule(file)
  if (agent !== undefined) return agent
  throw new RuntimeError('INVALID_OPTION', `${file} has no agent to compare with.`)
}

/** Returns an agent of the configuration. A function is called with the tools of the trial's folder before the configuration's own. */
export function configSource(config: LoadedConfig, agent: string | undefined): AgentSource {
  const { agents = [] } = config
  const [first] = agents
  if (agent === undefined && isAgentDefinition(first)) return first
  return ({ model, tools }: TrialGiven) => {
    const made = chosenAgent({ ...config, tools: [...tools, ...config.tools] }, agent, model)
    return made ?? defaultAgent({ model, tools })
  }
}

/**
 * Returns the agent that a module exports, or the function that makes it.
 *
 * @throws RuntimeError `INVALID_OPTION` if the module cannot be loaded or the choice is ambiguous.
 */
export async function moduleSource(file: string, agent: string | undefined): Promise<AgentSource> {
  const exported = await importModule(file)
  const definitions = [...new Set(Object.values(exported).flat())].filter(isAgentDefinition)
  const made = exported['default']
  if (agent === undefined && typeof made === 'function') return made as (given: TrialGiven) => AgentDefinition
  const names = definitions.map(({ name }) => name)
  if (agent !== undefined) {
    const found = definitions.find(({ name }) => name === agent)
    if (found !== undefined) return found
    const nearest = nearestWord(agent, names)
    const hint = nearest === undefined ? `There are: ${names.join(', ') || 'none'}.` : `Did you mean "${nearest}"?`
    throw new RuntimeError('INVALID_OPTION', `${file} exports no agent "${agent}". ${hint}`)
  }
  if (definitions.length === 1) return definitions[0]!
  const seen = definitions.length === 0 ? Object.keys(exported).join(', ') || 'nothing' : names.join(', ')
  const what = definitions.length === 0 ? 'no agent' : 'several agents: name one with --agent'
  throw new RuntimeError(
    'INVALID_OPTION',
    `${file} exports ${what} (${seen}). Export what defineAgent returns, or by default a function that does: ({ dir, model, tools }) => defineAgent(…).`,
  )
}
