import { realpathSync } from 'node:fs'
import type { Agent } from '../../runtime/agents/agent.ts'
import type { LoadedSession } from '../../sessions/loadSession.ts'
import { chatInTerminal } from '../localChat.ts'
import { isInteractive, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { sortModel } from '../demo/sortPolicy.ts'
import { agentsOf } from '../config/configAgents.ts'
import { loadConfig, type LoadedConfig } from '../config/loadConfig.ts'
import { guideTrouble, sayChoice, settingsOf, wordDelayMs } from '../openWork.ts'
import { chooseModel, type ModelChoice, type ModelWish } from '../models/chooseModel.ts'
import { providers } from '../models/providers.ts'
import { openSession, type Session } from '../openSession.ts'
import { ownSession } from '../ownSession.ts'
import { codeOf, watchWork, type RunEnd, type TaskOptions } from '../runTask.ts'
import { howToResume, openLogs, readSession, refuse } from '../sessionLogs.ts'
import { recap } from '../terminal/conversationTree.ts'
import { pauseText } from '../terminal/sessionText.ts'
import { oneLine } from '../../charts/plainText.ts'

/** `escapement resume <id>`: continues a session of `run` or `chat`, even if its process was killed. */
export const resumeCommand: CommandRun = async (invocation, host) => {
  const { task: id = '', dir = '.', json, yes, model } = invocation
  const config = await loadConfig(invocation, host)
  const logs = openLogs(invocation, config)
  const before = await readSession(logs, id)
  const own = ownSession(before)
  if (own === undefined && !mayKnow(config, before.definition)) return refuse(host, notOurs(before))
  if (invocation.dir === undefined && own?.folder !== undefined && !isSameFolder(own.folder, host.cwd())) {
    const [there, here] = [own.folder, '.'].map((folder) => howToResume(id, { ...invocation, dir: folder }))
    const what = `Session "${id}" worked in ${oneLine(own.folder)}, not in the folder you are in.`
    return refuse(host, `${what}\nTo go on there: ${oneLine(there!)}\nTo go on here: ${here}`, exitCodes.usage)
  }
  if (before.isStopped) return refuse(host, `Session "${id}" was stopped for good.`)
  const isLive = !json && isInteractive(host)
  const wish = { asked: model, env: host.env, dir: host.cwd(), wordDelayMs: isLive ? wordDelayMs : 0, config }
  const choice = await choiceFor(before.model, wish)
  const definition =
    own === undefined ? agentsOf(config!, choice.model).find(({ name }) => name === before.definition) : undefined
  if (own === undefined && definition === undefined) return refuse(host, notOurs(before))
  sayChoice(choice, definition, host)
  const session = await openSession({
    dir,
    ...settingsOf(config),
    recordIn: logs.folder,
    definition,
    onGuideTrouble: guideTrouble(definition, host),
    choice,
    needsApproval: () => !yes,
    braking: { revert: hadBrake(before) },
    resume: id,
    name: before.definition,
  })
  const options = { host, json, yes, isPriced: choice.isEmbedded }
  try {
    if (!isLive) return await goOn(session, options)
    host.stdout.write(recap(before.conversation, host))
    return await chatInTerminal(session, { ...options, modelId: session.definition.model.id }, (chat) => {
      if (isOwed(session.agent)) session.agent.resume()
      else chat.catchUp()
    })
  } finally {
    await session.close()
  }
}

/** Whether the configuration may have the agent: those it makes with a model have no name before. */
const mayKnow = (config: LoadedConfig | undefined, name: string): boolean =>
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

/** The requested model, else the session's own if the command line can create it. */
async function choiceFor(recorded: string, wish: ModelWish): Promise<ModelChoice> {
  const isFree = wish.asked === undefined && (wish.env['ESCAPEMENT_MODEL'] ?? '') === ''
  if (!isFree) return chooseModel(wish)
  const sorter = sortModel({ wordDelayMs: wish.wordDelayMs })
  if (recorded === sorter.id) return { model: sorter, isEmbedded: true }
  const [label = ''] = recorded.split(':')
  if (label === 'embedded') return chooseModel({ ...wish, asked: 'embedded' })
  return chooseModel(Object.hasOwn(providers, label) ? { ...wish, asked: recorded } : wish)
}

/** Whether the model had the revert tool, according to the captured requests. */
const hadBrake = ({ past, records }: LoadedSession): boolean =>
  [...past, ...records].some(
    (record) =>
      record.type === 'turn.captured' && record.tools?.some(({ name }) => name === 'revert_to_state') === true,
  )

/** Whether a paused run should be resumed; one that waits for approvals is not, as those come first. */
const isOwed = ({ pause }: Agent): boolean => pause !== null && pause.type !== 'approvals'

/** Whether nothing more will happen without input; waiting approvals are answered, so they do not count. */
const isAtRest = ({ state, pause }: Agent): boolean =>
  state === 'idle' || state === 'stopped' || (state === 'paused' && pause?.type !== 'approvals')

async function goOn(session: Session, options: TaskOptions): Promise<number> {
  const { agent } = session
  const { host, json } = options
  const say = (text: string): unknown => (json ? host.stderr : host.stdout).write(`${text}\n`)
  if (agent.state === 'idle') {
    say(`Session "${agent.id}" has nothing left to do. To say more, resume it at a terminal.`)
    return exitCodes.done
  }
  if (agent.pause !== null) say(`Going on with a run: ${pauseText(agent.pause)}.`)
  return codeOf(await watchWork(session, () => toRest(agent), options))
}

/** Continues until nothing is left to do, waiting prompts included; returns how the last run ended. */
async function toRest(agent: Agent): Promise<RunEnd> {
  let last: RunEnd | undefined = isOwed(agent) ? await agent.resume().result : undefined
  if (!isAtRest(agent)) {
    const rest = Promise.withResolvers<void>()
    // A listener, not an iterable: that is delayed, and the agent could be at rest before its `run.end` is read.
    const unsubscribe = agent.subscribe((event) => {
      if (event.type === 'run.end' && event.agentId === agent.id) last = event
      if (isAtRest(agent)) rest.resolve()
    })
    await rest.promise
    unsubscribe()
  }
  return last ?? { stopReason: 'stop' }
}
