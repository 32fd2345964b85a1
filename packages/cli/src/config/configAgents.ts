import { tell } from '../terminal/wordWrap.ts'
import { dirname } from 'node:path'
import { isAgentDefinition, type AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { RuntimeError, withoutAdvice } from '../../../../src/protocol/errors.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import type { CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { checkNames, loadDefinitions, loadWakeable } from './loadDefinitions.ts'
import { chooseModel } from '../models/chooseModel.ts'
import { cliAgentName } from './ownSession.ts'
import { placeOfThrown } from '../../../tools/src/userFiles/importModule.ts'
import type { LoadedConfig } from './readConfig.ts'

/**
 * Returns the agents of a configuration; functions are called with the model to make theirs.
 *
 * @throws RuntimeError `INVALID_OPTION` if one is not an agent, or two have the same name.
 */
export function agentsOf({ agents = [], tools, file }: LoadedConfig, model: Model): AgentDefinition[] {
  const definitions = agents.map((agent, index) => {
    if (typeof agent !== 'function') return agent
    const wrong = (what: string, cause?: unknown): RuntimeError => {
      const place = placeOfThrown(cause, dirname(file)) ?? file
      return new RuntimeError('INVALID_OPTION', `${place}: agents.${index} ${what}.`, { cause })
    }
    let made: unknown
    try {
      made = agent({ model, tools })
    } catch (thrown) {
      throw wrong(`threw: ${withoutAdvice(thrown)}`, thrown)
    }
    if (!isAgentDefinition(made)) throw wrong('does not return what defineAgent returns')
    return made
  })
  checkNames(definitions, `${file} has`)
  return definitions
}

/**
 * Returns the agents that a command offers: those of the given module, or else those of the configuration.
 *
 * @throws RuntimeError `INVALID_OPTION` if there are none.
 */
export async function definitionsFor(
  { command, task, model: asked }: Pick<Invocation, 'command' | 'task' | 'model'>,
  config: LoadedConfig | undefined,
  host: CliHost,
): Promise<AgentDefinition[]> {
  if (task !== undefined) return loadDefinitions(task, host.cwd())
  if (config?.agents === undefined || config.agents.length === 0) {
    const what = config === undefined ? 'there is no escapement.config.ts here' : `${config.file} has no agents`
    throw new RuntimeError(
      'INVALID_OPTION',
      `"${command}" needs a module, like: escapement ${command} ./agents.ts; ${what} (escapement init writes one).`,
    )
  }
  const choice = await chooseModel({ asked, env: host.env, dir: host.cwd(), wordDelayMs: 0, config })
  const definitions = agentsOf(config, choice.model)
  const isUsed = definitions.some(({ model }) => model === choice.model)
  if (isUsed && choice.notice !== undefined) tell(host.stderr, `${choice.notice}\n`)
  return definitions
}

/** The agents and machines of a module, else the agents of the configuration. Rejects as `definitionsFor` does. */
export async function wakeableFor(
  invocation: Pick<Invocation, 'command' | 'task' | 'model'>,
  config: LoadedConfig | undefined,
  host: CliHost,
): ReturnType<typeof loadWakeable> {
  const { task } = invocation
  if (task !== undefined) return await loadWakeable(task, host.cwd())
  return { definitions: await definitionsFor(invocation, config, host), machines: [] }
}

/**
 * Returns the configuration's agent for a person to work with: the named one, or else the first. `undefined`: the command line's own agent.
 *
 * @throws RuntimeError `INVALID_OPTION` naming the existing ones.
 */
export function chosenAgent(
  config: LoadedConfig | undefined,
  name: string | undefined,
  model: Model,
): AgentDefinition | undefined {
  const definitions = config === undefined ? [] : agentsOf(config, model)
  if (name === undefined) return definitions[0]
  if (name === cliAgentName) return undefined
  const found = definitions.find((definition) => definition.name === name)
  if (found !== undefined) return found
  const names = [...definitions.map((definition) => definition.name), cliAgentName]
  const nearest = nearestWord(name, names)
  const hint = nearest === undefined ? `There are: ${names.join(', ')}.` : `Did you mean "${nearest}"?`
  throw new RuntimeError('INVALID_OPTION', `--agent "${name}" is not in the configuration. ${hint}`)
}
