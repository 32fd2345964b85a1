import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { checkAgentId } from '../../../../src/protocol/ids.ts'
import { withoutControls } from '../../../charts/src/plainText.ts'
import { answerPending, sharedPolicy, type ApprovalPolicy } from '../chat/approvals.ts'
import { waitingLine } from '../chat/askPerson.ts'
import { AttachedAgent } from '../chat/attachedAgent.ts'
import { isInteractive, type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { onConnection } from '../chat/onConnection.ts'
import type { RunEnd } from '../chat/runTask.ts'
import { refuse, wantsJson } from '../sessions/sessionLogs.ts'
import { onStopSignal } from '../signals.ts'
import { coloursFor } from '../terminal/colours.ts'
import { eventPrinter } from '../terminal/eventPrinter.ts'
import { takesLinks } from '../terminal/links.ts'
import { LiveScreen } from '../terminal/liveScreen.ts'
import { safeJson } from '../terminal/safeJson.ts'
import { plainScreen } from '../terminal/screen.ts'
import { StatusLine } from '../terminal/statusLine.ts'
import { withServer } from '../sessions/withServer.ts'

type How = 'prompt' | 'steer' | 'followUp'

/** `escapement send <url> <id> <text>`: sends one message to an agent on a server. */
export const sendCommand: CommandRun = (invocation, host) => {
  const how = howOf(invocation)
  const { before, task = '', noWait } = invocation
  const [, agentId = ''] = before
  checkAgentId(agentId)
  return withServer(invocation, host, async ({ client, address }) => {
    const agent = await AttachedAgent.find(client, agentId)
    const where = `escapement attach ${address} ${agentId}`
    if (!noWait)
      return watch(agent, { say: senders[how], text: task, where }, invocation, host, (tell) =>
        onConnection(client, tell, agent),
      )
    agent.follow()
    if (how === 'prompt') {
      const { result } = agent.prompt(task)
      const refused = await Promise.race([result, agent.delivered()])
      if (refused?.runId === '' && refused.error !== undefined)
        return refuse(host, `${refused.error.message} (${refused.error.code})`)
    } else await agent[how](task)
    const answer = wantsJson(invocation, host) ? JSON.stringify({ agentId }) : `${agentId} has it; see: ${where}`
    host.stdout.write(`${answer}\n`)
    return exitCodes.done
  })
}

/** Returns how the message is sent. @throws RuntimeError `INVALID_OPTION` */
function howOf({ steer, followUp }: Invocation): How {
  if (steer && followUp) throw new RuntimeError('INVALID_OPTION', 'Use either --steer or --follow-up, not both.')
  return steer ? 'steer' : followUp ? 'followUp' : 'prompt'
}

/** Outcome of a run; with the error if it was refused. */
interface SentRun extends RunEnd {
  readonly runId: string
}

/** Sends the message, shows every event of the run that answers it, and returns that run's outcome. */
type Sender = (agent: AttachedAgent, text: string, show: (event: AgentEvent) => void) => Promise<SentRun>

const senders: { readonly [H in How]: Sender } = {
  prompt(agent, text, show) {
    agent.subscribe((event) => {
      if (agent.isOwnRun) show(event)
    })
    return agent.prompt(text).result
  },
  steer: (agent, text, show) => intoRun(agent, show, (event) => isTaken(event, 'steer', text), agent.steer(text)),
  followUp: (agent, text, show) =>
    intoRun(agent, show, (event) => isTaken(event, 'followUp', text), agent.followUp(text)),
}

const queues = { steer: 'steering', followUp: 'followUps' } as const
const sources = { steer: 'steering', followUp: 'followUp' } as const

/** Returns true if an event shows that the agent has taken the message, as the cause of a run or into its queue. */
function isTaken(event: AgentEvent, how: 'steer' | 'followUp', text: string): boolean {
  if (event.type === 'run.start') return event.cause === sources[how]
  return event.type === 'queue.changed' && event.queue === queues[how] && textOf(event.added?.content ?? []) === text
}

function intoRun(
  agent: AttachedAgent,
  show: (event: AgentEvent) => void,
  isIn: (event: AgentEvent) => boolean,
  sent: Promise<void>,
): Promise<SentRun> {
  const ended = Promise.withResolvers<SentRun>()
  let isShown = false
  agent.subscribe((event) => {
    if (event.agentId === agent.id) isShown ||= isIn(event)
    if (!isShown) return
    show(event)
    if (event.type !== 'run.end' || event.agentId !== agent.id) return
    if (event.reason?.type !== 'interrupted') return ended.resolve(event)
    // The server died in the middle of it: it either continues as another run or waits for someone.
    void agent.refresh().then(() => {
      if (agent.pause !== null) ended.resolve(event)
    }, ended.reject)
  })
  sent.catch(ended.reject)
  return ended.promise
}

interface Message {
  readonly say: Sender
  readonly text: string
  /** The command that shows the agent. */
  readonly where: string
}

async function watch(
  agent: AttachedAgent,
  { say, text, where }: Message,
  invocation: Invocation,
  host: CliHost,
  connection: (tell: (text: string) => void) => void,
): Promise<number> {
  const json = wantsJson(invocation, host)
  const isLive = !json && isInteractive(host)
  const colours = coloursFor(host.stdout, host.env, host.theme)
  const screen = isLive ? new LiveScreen(host) : plainScreen(json ? host.stderr : host.stdout)
  const status = new StatusLine(screen, colours, systemClock, 'Ctrl-C to leave')
  const policy = (): ApprovalPolicy => sharedPolicy(agent.isOwnRun, isLive, invocation.yes)
  const print = eventPrinter({
    screen,
    colours,
    isPriced: false,
    hasLinks: takesLinks(host.env),
    isDumb: host.env['TERM'] === 'dumb',
    isAsking: () => policy() === 'ask',
  })
  const approvals = answerPending(agent, screen, {
    policy,
    colours,
    unasked: (pending) =>
      void host.stderr.write(`${withoutControls(waitingLine(pending))}; nobody can be asked here, see: ${where}\n`),
  })
  const left = Promise.withResolvers<undefined>()
  const ignoreSignals = onStopSignal(host, () => left.resolve(undefined))
  const show = (event: AgentEvent): void => {
    if (json) return void host.stdout.write(`${safeJson(event)}\n`)
    print(event)
    if (isLive && event.agentId === agent.id) status.see(event)
  }
  connection((line) => host.stderr.write(`${line}\n`))
  agent.follow()
  if (agent.state !== 'idle' && isLive) status.begin(agent.state)
  try {
    const end = await Promise.race([say(agent, text, show), left.promise])
    if (end === undefined) {
      host.stderr.write(
        `left ${agent.hasUndelivered ? 'before the server had it' : 'the agent at work'}; see: ${where}\n`,
      )
      return exitCodes.interrupted
    }
    const { runId, error, stopReason } = end
    if (runId === '' && error !== undefined) return refuse(host, `${error.message} (${error.code})`)
    return stopReason === 'stop' && error === undefined ? exitCodes.done : exitCodes.failed
  } finally {
    ignoreSignals()
    approvals.end()
    status.close()
    screen.close()
  }
}
