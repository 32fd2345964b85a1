import { tell } from '../terminal/wordWrap.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Economics } from '../../../../src/protocol/economics.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { chooseModel, type ModelChoice } from '../models/chooseModel.ts'
import { openSession } from '../sessions/openSession.ts'
import { codeOf, runTask } from '../chat/runTask.ts'
import { coloursFor } from '../terminal/colours.ts'
import { conversationTree } from '../chat/conversationTree.ts'
import { openPage } from './demoPage.ts'
import { embeddedSorter, sorterSetting } from './sorter.ts'
import {
  checkArguments,
  checkFile,
  checkProgram,
  defaultTimeLimitMs,
  maxTimeLimitMs,
  readSortTask,
  sortTask,
} from '../../../demo/src/sortTask.ts'
import { verify } from './verify.ts'
import { openWorkshop } from './workshop.ts'
import type { ModelRequest } from '../../../../src/protocol/ports/model.ts'
import { counted, savings } from '../../../charts/src/amounts.ts'

/**
 * `escapement demo sort`: the agent must write a fast sort of `count` numbers, and may abandon a dead end. Its work is then checked. Needs no key.
 *
 * @throws RuntimeError `INVALID_OPTION` for an invalid time limit.
 */
export async function runSortDemo(invocation: Invocation, host: CliHost, count?: number): Promise<number> {
  const { timeLimit, json, yes } = invocation
  const said = sortTask(readTimeLimit(timeLimit), count)
  const task = readSortTask(said)!
  const choice = await chooseSorter(invocation, host)
  const workshop = openWorkshop({ [checkFile]: checkProgram })
  const session = await openSession({ ...workshop, ...sorterSetting(yes), choice })
  const watched = watchReverts(session.agent)
  const { bold, dim } = coloursFor(host.stdout, host.env, host.theme)
  if (!json) {
    const where = dim(`The folder is ${workshop.dir}; the model is ${choice.model.id}.`)
    tell(host.stdout, `${bold('A task with a dead end.')} ${where}\n${bold('Task:')} ${said}\n\n`)
  }
  let code: number
  try {
    const page = await openPage(session, invocation, host)
    code = codeOf(await runTask(session, said, { host, json, isPriced: choice.isEmbedded }))
    if (code === exitCodes.interrupted) return code
    if (!json) tell(host.stdout, sayConversation(session.agent, watched, host))
    // The check as it was, and other numbers: what the agent has seen could be met by other means than sorting.
    writeFileSync(join(workshop.dir, checkFile), checkProgram)
    const passes = await verify(workshop, checkArguments(task, 2), { host, timeoutMs: task.timeLimitMs })
    if (passes === undefined) return exitCodes.interrupted
    if (!json) tell(host.stdout, sayVerdict(passes, task.timeLimitMs, watched.length === 0, host))
    await page.stay()
    return passes ? code : exitCodes.failed
  } finally {
    await session.close()
  }
}

async function chooseSorter({ model, stay }: Invocation, host: CliHost): Promise<ModelChoice> {
  if (model === undefined || model === 'embedded') return embeddedSorter(stay || host.stdout.isTTY)
  return chooseModel({ asked: model, env: host.env, dir: host.cwd(), wordDelayMs: 0 })
}

function readTimeLimit(given: string | undefined): number {
  if (given === undefined) return defaultTimeLimitMs
  const ms = /^\d+$/.test(given) ? Number(given) : 0
  if (ms >= 1 && ms <= maxTimeLimitMs) return ms
  throw new RuntimeError(
    'INVALID_OPTION',
    `--time-limit must be a whole number of milliseconds from 1 to ${maxTimeLimitMs}; it is "${given}".`,
  )
}

/** Describes the tree, and the requests to the model before and after each revert. */
function sayConversation({ conversation }: Agent, reverts: readonly Reverted[], host: CliHost): string {
  const colours = coloursFor(host.stdout, host.env, host.theme)
  const title =
    reverts.length === 0 ? 'The conversation; nothing was abandoned:' : 'The conversation, with what was abandoned:'
  const columns = host.stdout.isTTY && host.stdout.columns > 0 ? host.stdout.columns - 2 : Infinity
  const tree = conversationTree(conversation, colours, columns).map((line) => `  ${line}`)
  return `\n${colours.bold(title)}\n\n${tree.join('\n')}\n${reverts.map((revert) => `\n${sayRequests(revert)}\n`).join('')}`
}

function sayVerdict(passes: boolean, timeLimitMs: number, isStraight: boolean, host: CliHost): string {
  const { bold, dim, green, red } = coloursFor(host.stdout, host.env, host.theme)
  const within = `within ${timeLimitMs} ms`
  const verdict = passes ? green(`it sorts other numbers, ${within}`) : red(`it does not sort other numbers ${within}`)
  const start = host.env['npm_lifecycle_event'] === 'start' ? 'npm start --' : 'escapement demo'
  const next = isStraight
    ? `Next, with a limit that bubble sort cannot keep: ${start} sort`
    : `Next, with a limit that the first attempt can keep, so that nothing is abandoned: ${start} sort --time-limit 60000`
  return `\n${bold('Checked once more, by running it apart from the agent:')} ${verdict}.\n\n${dim(next)}\n`
}

/** Size of a request as sent to the model. */
interface RequestSize {
  readonly messages: number
  tokens: number
}

/** The requests before and after a revert. */
interface Reverted {
  readonly before: RequestSize
  after: RequestSize | undefined
  /** Newest brake note in the request after the revert. */
  note: string
  readonly economics: Economics | undefined
}

/** Records every revert that is applied from now on. The returned list grows as they occur. */
function watchReverts(agent: Agent): readonly Reverted[] {
  const reverts: Reverted[] = []
  let latest: RequestSize = { messages: 0, tokens: 0 }
  agent.subscribe((event) => {
    if (event.type === 'turn.request') {
      latest = { messages: event.request.messages.length, tokens: 0 }
      const revert = reverts.at(-1)
      if (revert === undefined || revert.after !== undefined) return
      revert.after = latest
      revert.note = lastNote(event.request)
    } else if (event.type === 'reply.end') {
      const { input, cacheRead, cacheWrite } = event.message.usage
      latest.tokens = input + cacheRead + cacheWrite
    } else if (event.type === 'revert.applied' && event.applied) {
      reverts.push({ before: latest, after: undefined, note: '', economics: event.economics })
    }
  })
  return reverts
}

const lastNote = ({ messages }: ModelRequest): string => {
  const texts = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  )
  return texts.findLast((text) => text.startsWith('<brake-note')) ?? ''
}

/** Describes both requests, one per line, and the note. */
function sayRequests({ before, after, note, economics }: Reverted): string {
  const size = ({ messages, tokens }: RequestSize): string =>
    `${counted(messages, 'message')}, ${counted(tokens, 'token')}`
  if (after === undefined) return `Request before the revert: ${size(before)}; there was none after it.`
  const told = economics === undefined ? '' : `\nThe revert ${savings(economics)}.`
  return `Request before the revert: ${size(before)}\nRequest after the revert:  ${size(after)}, with this note:\n  ${note}${told}`
}
