import type { SessionSummary } from '../../../sessions/src/listSessions.ts'
import { sessionsIn } from '../../../sessions/src/listSessions.ts'
import { age } from '../../../charts/src/amounts.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { chatInTerminal } from './localChat.ts'
import { isOwed, mayKnow, openPast, type PastWork } from '../sessions/openPast.ts'
import { openWork, type Work } from '../sessions/openWork.ts'
import { cliAgentName } from '../config/ownSession.ts'
import { openLogs, refuse } from '../sessions/sessionLogs.ts'
import { recap } from './conversationTree.ts'
import type { PickerItem } from '../terminal/input/picker.ts'
import { atTerminal } from '../terminal/atTerminal.ts'

/**
 * Returns the sessions in a folder that a chat can continue, the newest first, optionally of one named agent.
 *
 * @throws RuntimeError as `loadConfig` and `openLogs`, and if the store cannot list its contents.
 */
export async function pastSessions(invocation: Invocation, host: CliHost): Promise<readonly SessionSummary[]> {
  const config = await loadConfig(invocation, host)
  const { store } = await openLogs(invocation, config)
  const query = { parent: null, ...(invocation.agent === undefined ? {} : { definition: invocation.agent }) }
  const sessions: SessionSummary[] = []
  for await (const session of sessionsIn(store, query)) {
    const { definition, isStopped, runs, error } = session
    const isKnown = definition === cliAgentName || mayKnow(config, definition)
    // One in which nothing was said is like a new one.
    if (error === undefined && runs > 0 && !isStopped && isKnown) sessions.push(session)
    if (sessions.length === mostOffered) break
  }
  return sessions.toSorted((a, b) => b.updatedAt - a.updatedAt)
}

/** Maximum number of offered sessions, the newest. */
const mostOffered = 100

/** Returns sessions as items of a picker: their subject, progress and age. Pure. */
export const sessionItems = (sessions: readonly SessionSummary[], now: number): PickerItem[] =>
  sessions.map(({ id, title, status, updatedAt }) => ({
    label: title === undefined ? id : oneLine(title),
    details: [statusWords[status], age(now - updatedAt)],
  }))

const statusWords: Readonly<Record<SessionSummary['status'], string>> = {
  completed: 'done',
  running: 'interrupted',
  paused: 'paused',
  aborted: 'stopped',
  rejected: 'refused',
  failed: 'failed',
}

const pickTitle = 'Continue session (type to search, Enter, Esc):'

/** Lets a person choose a session; `undefined` if none was chosen. */
export async function pickSession(
  sessions: readonly SessionSummary[],
  pick: (title: string, items: readonly PickerItem[]) => Promise<number | undefined>,
): Promise<string | undefined> {
  const index = await pick(pickTitle, sessionItems(sessions, systemClock.now()))
  return index === undefined ? undefined : sessions[index]?.id
}

/** Lets a person choose a session where no chat is open. */
export const pickAtTerminal = (sessions: readonly SessionSummary[], host: CliHost): Promise<string | undefined> =>
  atTerminal(host, (pick) => pickSession(sessions, pick))

/**
 * Chats at a terminal with a session, a new one without an id, and then with those chosen by `/sessions`. Returns the exit code.
 *
 * @throws RuntimeError as `openWork` and `openPast`.
 */
export async function chatAtTerminal(invocation: Invocation, host: CliHost, first?: string): Promise<number> {
  let id = first
  for (;;) {
    const work = id === undefined ? await openWork(invocation, host) : await openPast(invocation, host, id)
    if ('refusal' in work) return refuse(host, work.refusal, work.code)
    const { code, next } = await chatOnce(work, invocation, host)
    if (next === undefined) return code
    id = next
  }
}

async function chatOnce(
  work: Work | PastWork,
  invocation: Invocation,
  host: CliHost,
): Promise<{ readonly code: number; readonly next: string | undefined }> {
  const { session, modelId, isPriced } = work
  const { agent } = session
  let next: string | undefined
  try {
    if ('before' in work) host.stdout.write(recap(work.before.conversation, host))
    const { json, yes } = invocation
    const code = await chatInTerminal(session, {
      host,
      json,
      yes,
      isPriced,
      modelId,
      begin(chat) {
        if (!('before' in work)) return
        if (isOwed(agent)) agent.resume()
        else chat.catchUp()
      },
      async onSessions(chat) {
        if (agent.state !== 'idle' && agent.state !== 'paused') return chat.note('stop the agent first (Esc)', true)
        const others = (await pastSessions(invocation, host)).filter(({ id }) => id !== agent.id)
        if (others.length === 0) return chat.note('no other session to continue')
        next = await pickSession(others, (title, items) => chat.pick(title, items))
        if (next !== undefined) chat.leave(exitCodes.done)
      },
    })
    return { code, next }
  } finally {
    await session.close()
  }
}
