import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { AgentEvent, EventOf } from '../../../../src/protocol/events.ts'
import type { Limits } from '../../../../src/protocol/runs/runLimits.ts'
import { totalTokens } from '../../../../src/protocol/messages.ts'
import { pendingIn } from '../../../wire/src/pendingIn.ts'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import type { Colours } from './colours.ts'
import type { Screen } from './screen.ts'
import { limitUses, nearestLimit } from '../../../charts/src/limitUse.ts'
import { nowParts, type NowFacts } from '../../../charts/src/nowLine.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import { planOf } from '../../../charts/src/planOf.ts'
import { standingWords } from '../../../charts/src/standing.ts'
import { textWidth } from '../../../charts/src/textWidth.ts'
import { callLine } from '../../../charts/src/toolLine.ts'
import { WorkTimes } from '../../../charts/src/workTimes.ts'

const everyMs = 1000
/** Minimum duration that is shown, in milliseconds. */
const leastMs = 1000

interface CallUnderWay {
  readonly words: string
  readonly isChild: boolean
}

/** Facts about the agent that its events do not contain. */
export interface StatusFacts {
  /** Returns the size of the model's context window in tokens, if known. */
  window?(): number | undefined
  /** Returns the current work of each sub-agent in words: `coder writing`. */
  below?(): readonly string[]
  /** Returns the agent's state, which may have a plan; `undefined` if it has none. */
  appState?(): unknown
}

/** Lengths that the words of a plan's step are cut to, one after the other, before they are left out. */
const stepChars = [40, 24, 12] as const

/** Number of parts of a line that are never left out: the turn and its current work. */
const leastParts = 2

/**
 * Describes an agent's work in a line of `columns`. Left out first are the parts after its sub-agents, then the sub-agents' work, then parts at
 * its end, the words of the plan's step before the plan, then the hint for stopping. The current work stays, even if it is wider. Pure.
 */
export function statusText(facts: NowFacts, hint: string, columns: number): string {
  const { at, step } = facts.plan ?? {}
  if (at === undefined || step === undefined) return fittedParts(facts, hint, columns)
  for (const most of stepChars) {
    const line = fittedParts({ ...facts, plan: { at, step: cutEnd(step, most) } }, hint, columns)
    if (line.includes(` · plan ${at}: `)) return line
  }
  return fittedParts({ ...facts, plan: { at } }, hint, columns)
}

function fittedParts({ below = [], ...facts }: NowFacts, hint: string, columns: number): string {
  const parts = nowParts(facts)
  const whole = nowParts({ ...facts, below })
  const told = whole.findIndex((part, at) => part !== parts[at])
  const tellsBelow = told === -1 ? whole.length : told
  for (let count = whole.length; count > tellsBelow; count--) {
    const line = `● ${[...whole.slice(0, count), hint].join(' · ')}`
    if (textWidth(line) <= columns) return line
  }
  const least = facts.turnIndex === undefined ? 1 : leastParts
  const of = (some: readonly string[]): string => `● ${some.join(' · ')}`
  for (let count = parts.length; count >= least; count--) {
    const line = of([...parts.slice(0, count), hint])
    if (textWidth(line) <= columns) return line
  }
  return of(parts.slice(0, least))
}

interface RunUse {
  readonly limits: Limits
  readonly turns: number
  readonly tokens: number
  /** Cost in US dollars as counted for the limits. */
  readonly costUsd: number
}

/** Shows a busy agent's work below the text, in the same words as the page. */
export class StatusLine {
  readonly #screen: Screen
  readonly #colours: Colours
  readonly #clock: Clock
  readonly #hint: string
  readonly #known: StatusFacts
  /** Use of the run's limits; `undefined` if the start of the run was not seen. */
  #run: RunUse | undefined
  #times = new WorkTimes()
  readonly #calls = new Map<string, CallUnderWay>()
  /** Keys of the calls that wait for a person. */
  readonly #waiting = new Set<string>()
  #state = ''
  /** The policy that is deciding, or the model whose answer is pending. */
  #aside = ''
  #facts: Pick<NowFacts, 'turnIndex' | 'contextTokens'> & { readonly costUsd: number } = { costUsd: 0 }
  /** Current work in words; `#since`: the time of its start. */
  #doing = ''
  #since: number | undefined
  #cancelTimer: (() => void) | undefined

  /** `hint` describes the effect of Ctrl-C. */
  constructor(screen: Screen, colours: Colours, clock: Clock, hint = 'Ctrl-C to stop', known: StatusFacts = {}) {
    this.#known = known
    this.#hint = hint
    this.#screen = screen
    this.#colours = colours
    this.#clock = clock
  }

  /** Processes an event of the agent. */
  see(event: AgentEvent): void {
    const pending = pendingIn(event.agentId, event)
    if (pending !== undefined) this.#waiting.add(pending.key)
    this.#count(event)
    if (event.type === 'run.start') this.#start()
    else if (event.type === 'state.changed') this.#state = event.state
    else if (event.type === 'turn.start') this.#facts = { ...this.#facts, turnIndex: event.turnIndex }
    else if (event.type === 'tool.start')
      this.#calls.set(event.callId, {
        words: callLine(event.name, event.input),
        isChild: event.childId !== undefined,
      })
    else if (event.type === 'tool.end') this.#ended(event)
    else if (event.type === 'approval.decided' || event.type === 'question.answered') this.#waiting.delete(event.key)
    else if (event.type === 'reply.end') this.#replied(event)
    else if (event.type === 'policy.start') this.#aside = `asks policy ${oneLine(event.policy)}`
    else if (event.type === 'model.waiting') this.#aside = waitText(event)
    else if (event.type === 'policy.end' || event.type === 'model.waited') this.#aside = ''
    else if (event.type === 'run.end') this.close()
    else if (pending === undefined) return
    this.#draw()
  }

  /** Shows an agent that is already busy. */
  begin(state: string): void {
    this.#state = state
    if (this.#since === undefined) this.#start()
    this.#draw()
  }

  close(): void {
    this.#cancelTimer?.()
    this.#since = undefined
    this.#calls.clear()
    this.#waiting.clear()
    this.#aside = ''
    this.#doing = ''
    this.#facts = { costUsd: 0 }
    this.#run = undefined
    this.#screen.setStatus(undefined)
  }

  /** Counts the use of the run's limits. */
  #count(event: AgentEvent): void {
    this.#times.take(event)
    if (event.type === 'run.start') this.#run = { limits: event.limits, turns: 0, tokens: 0, costUsd: 0 }
    if (this.#run === undefined) return
    const { turns, tokens, costUsd } = this.#run
    const spent = event.type === 'tool.end' ? event.spent : undefined
    const own = event.type === 'reply.end' ? { turns: 1, usage: event.message.usage, costUsd: event.costUsd } : spent
    if (own === undefined) return
    this.#run = {
      ...this.#run,
      turns: turns + own.turns,
      tokens: tokens + totalTokens(own.usage),
      costUsd: costUsd + own.costUsd,
    }
  }

  /** Describes the limit that would end the run first. */
  #nearest(): string | undefined {
    if (this.#run === undefined) return undefined
    const { limits, ...used } = this.#run
    return nearestLimit(limitUses(limits, { ...used, ms: this.#times.runUntil(this.#clock.now())?.ms ?? 0 }))?.words
  }

  #ended({ callId, key, spent }: EventOf<'tool.end'>): void {
    this.#calls.delete(callId)
    for (const one of this.#waiting) if (one === key || one.startsWith(`${key}/`)) this.#waiting.delete(one)
    this.#facts = { ...this.#facts, costUsd: this.#facts.costUsd + (spent?.costUsd ?? 0) }
  }

  #replied({ message, costUsd }: EventOf<'reply.end'>): void {
    const window = this.#known.window?.()
    this.#facts = {
      ...this.#facts,
      contextTokens: { used: totalTokens(message.usage), ...(window === undefined ? {} : { window }) },
      costUsd: this.#facts.costUsd + costUsd,
    }
  }

  #start(): void {
    this.#since = this.#clock.now()
    this.#tick()
  }

  #tick(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#clock.after(everyMs, () => {
      this.#draw()
      this.#tick()
    })
  }

  #draw(): void {
    if (this.#since === undefined) return
    const calls = [...this.#calls.values()]
    const tools = calls.map(({ words }) => words).join(', ')
    const waits = this.#waiting.size > 0
    const facts = { state: this.#state, waits, ...(tools === '' ? {} : { doing: tools }) }
    const doing = this.#aside !== '' && !waits ? this.#aside : this.#state === '' ? 'begins' : standingWords(facts)
    if (doing !== this.#doing) this.#since = this.#clock.now()
    this.#doing = doing
    const forMs = this.#clock.now() - this.#since
    const nearest = this.#nearest()
    const children = calls.filter(({ isChild }) => isChild).length
    const plan = planOf(this.#known.appState?.())
    const now: NowFacts = {
      ...this.#facts,
      doing,
      children,
      ...(children === 0 ? {} : { below: this.#known.below?.() ?? [] }),
      ...(forMs < leastMs ? {} : { forMs }),
      ...(plan === undefined ? {} : { plan }),
      ...(nearest === undefined ? {} : { nearest }),
    }
    const columns = (this.#screen.columns ?? Infinity) - 1
    this.#screen.setStatus(this.#colours.dim(statusText(now, this.#hint, columns)))
  }
}

const waitReasons = {
  concurrency: 'all its calls are under way',
  requestsPerMinute: 'its requests of this minute are used up',
  tokensPerMinute: 'its tokens of this minute are used up',
  retryAfter: 'its provider asked for a pause',
} as const

const waitText = ({ model, why, ahead }: EventOf<'model.waiting'>): string =>
  `waiting for ${oneLine(model)}: ${waitReasons[why]}${ahead === 0 ? '' : `, ${ahead} ahead`}`
