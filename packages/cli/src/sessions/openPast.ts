import { isWait } from '../../../../src/protocol/runs/waits.ts'
import { realpathSync } from 'node:fs'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { modelOf } from '../../../ai-sdk/src/adapters/modelOf.ts'
import { hasCode } from '../../../../src/protocol/errors.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { LoadedSession } from '../../../sessions/src/loadSession.ts'
import { isInteractive, exitCodes, type CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { agentsOf } from '../config/configAgents.ts'
import { loadConfig } from '../config/loadConfig.ts'
import type { LoadedConfig } from '../config/readConfig.ts'
import { sortModel } from '../../../demo/src/sortPolicy.ts'
import { chooseModel, type ModelChoice, type ModelWish } from '../models/chooseModel.ts'
import { providers } from '../models/providers.ts'
import { openSession } from './openSession.ts'
import { guideTrouble, isPriced, rulesOf, sayChoice, settingsOf, wordDelayMs, type Work } from './openWork.ts'
import { ownSession } from '../config/ownSession.ts'
import { readSession } from './readSession.ts'
import { howToResume, openLogs } from './sessionLogs.ts'
import { oneLine } from '../../../charts/src/plainText.ts'

/** A reopened session, with the contents of its log. */
export interface PastWork extends Work {
  readonly before: LoadedSession
}

/** Reason why a session is not continued. */
export interface PastRefusal {
  readonly refusal: string
  readonly code: (typeof exitCodes)['failed' | 'usage']
}

const refused = (refusal: string, code: PastRefusal['code'] = exitCodes.failed): PastRefusal => ({ refusal, code })

/**
 * Reopens a session of `run` or `chat`, even if its process was killed. It stays paused until it is resumed.
 *
 * @throws RuntimeError as `loadConfig`, `readSession`, `chooseModel` and `openSession`.
 */
export async function openPast(invocation: Invocation, host: CliHost, id: string): Promise<PastWork | PastRefusal> {
  const { dir = '.', json, yes, model } = invocation
  const config = await loadConfig(invocation, host)
  const logs = await openLogs(invocation, config)
  const before = await readSession(logs, id)
  const own = ownSession(before)
  if (own === undefined && !mayKnow(config, before.definition)) return refused(notOurs(before))
  if (invocation.dir === undefined && own?.folder !== undefined && !isSameFolder(own.folder, host.cwd())) {
    const [there, here] = [own.folder, '.'].map((folder) => howToResume(id, { ...invocation, dir: folder }))
    const what = `Session "${id}" worked in ${oneLine(own.folder)}, not in the folder you are in.`
    return refused(`${what}\nTo continue there: ${oneLine(there!)}\nTo continue here: ${here}`, exitCodes.usage)
  }
  if (before.isStopped) return refused(`Session "${id}" was stopped for good.`)
  const isLive = !json && isInteractive(host)
  const wish = { asked: model, env: host.env, dir: host.cwd(), wordDelayMs: isLive ? wordDelayMs : 0, config }
  const found =
    own === undefined ? await agentOf(before, config!, wish) : { choice: await choiceFor(before.model, wish) }
  if (found === undefined) return refused(notOurs(before))
  const { choice, definition } = found
  sayChoice(choice, definition, host)
  const session = await openSession({
    dir,
    ...settingsOf(config),
    recordIn: logs.place,
    definition,
    onGuideTrouble: guideTrouble(definition === undefined || config?.agentsMd === true, host),
    choice,
    needsApproval: () => !yes,
    rules: rulesOf(dir, host),
    ...(choice.isEmbedded ? { braking: { revert: hadBrake(before) } } : {}),
    resume: id,
    name: before.definition,
  })
  return { session, before, modelId: session.definition.model.id, isPriced: isPriced(session.definition) }
}

/** Returns true if the configuration may have the agent. The name of an agent created by a function is not known beforehand. */
export const mayKnow = (config: LoadedConfig | undefined, name: string): boolean =>
  config?.agents?.some((agent) => typeof agent === 'function' || agent.name === name) === true

const notOurs = ({ id, definition }: LoadedSession): string =>
  `Session "${id}" is of an agent "${oneLine(definition)}" that the command line did not begin and no configuration here has; only the code that ` +
  `defines it can go on with it: runtime.resume("${id}", definition).`

function isSameFolder(recorded: string, current: string): boolean {
  try {
    return realpathSync(recorded) === realpathSync(current)
  } catch {
    return false
  }
}

/** An agent, and the model that was chosen for it. An agent of the configuration that is not a function has its own model. */
interface AgentChoice {
  readonly choice: ModelChoice
  readonly definition?: AgentDefinition
}

/**
 * Returns the configuration's agent for a session. A model that cannot be created does not rule out an agent that does not use it. Otherwise it
 * rejects as `chooseModel` does.
 */
async function agentOf(
  { model: recorded, definition: name }: Pick<LoadedSession, 'model' | 'definition'>,
  config: LoadedConfig,
  wish: ModelWish,
): Promise<AgentChoice | undefined> {
  const own = config.agents?.find((agent) => typeof agent !== 'function' && agent.name === name)
  if (own !== undefined && typeof own !== 'function')
    return { choice: { model: own.model, isEmbedded: false }, definition: own }
  const made = (choice: ModelChoice): AgentChoice | undefined => {
    const definition = agentsOf(config, choice.model).find((agent) => agent.name === name)
    return definition && { choice, definition }
  }
  try {
    return made(await choiceFor(recorded, wish))
  } catch (thrown) {
    if (!isFree(wish) || !hasCode(thrown, 'MODEL_UNAVAILABLE')) throw thrown
    const found = made(await chooseModel(wish))
    if (found?.definition?.model === found?.choice.model) throw thrown
    return found
  }
}

/** Returns true if nobody has named a model. */
const isFree = ({ asked, env }: ModelWish): boolean => asked === undefined && (env['ESCAPEMENT_MODEL'] ?? '') === ''

/** Returns the name of a model that the configuration has as an object; `null` if it is the default model. */
function heldBy({ config }: ModelWish, id: string): string | null | undefined {
  const { model, models = {} } = config ?? {}
  const isIt = (held: typeof model): boolean =>
    held !== undefined && typeof held !== 'string' && modelOf(held, 'The configuration').id === id
  return isIt(model) ? null : Object.keys(models).find((name) => isIt(models[name]))
}

/** Returns the requested model, or else the session's own if the command line can create it. */
async function choiceFor(recorded: string, wish: ModelWish): Promise<ModelChoice> {
  if (!isFree(wish)) return chooseModel(wish)
  const sorter = sortModel({ wordDelayMs: wish.wordDelayMs })
  if (recorded === sorter.id) return { model: sorter, isEmbedded: true }
  const [label = ''] = recorded.split(':')
  if (label === 'embedded') return chooseModel({ ...wish, asked: 'embedded' })
  const held = heldBy(wish, recorded)
  if (held !== undefined) return chooseModel(held === null ? wish : { ...wish, asked: held })
  return chooseModel(Object.hasOwn(providers, label) ? { ...wish, asked: recorded, isRecorded: true } : wish)
}

/** Returns true if the model had the revert tool, according to the captured requests. */
const hadBrake = ({ past, records }: LoadedSession): boolean =>
  [...past, ...records].some(
    (record) =>
      record.type === 'turn.captured' && record.tools?.some(({ name }) => name === 'revert_to_state') === true,
  )

/** Returns true if a paused run should be resumed. A run that waits for approvals should not, as the approvals come first. */
export const isOwed = ({ pause }: Agent): boolean => pause !== null && !isWait(pause)
