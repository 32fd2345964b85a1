import type { Clock } from '../../protocol/clock.ts'
import type { AgentEvent, EventOf } from '../../protocol/events.ts'
import type { Colours } from './colours.ts'
import type { Screen } from './screen.ts'
import { oneLine } from '../../charts/plainText.ts'
import { callLine } from '../../charts/toolLine.ts'

const everyMs = 1000

/** Shows the state, tool and elapsed seconds of a busy agent below the text. */
export class StatusLine {
  readonly #screen: Screen
  readonly #colours: Colours
  readonly #clock: Clock
  readonly #hint: string
  readonly #tools = new Map<string, string>()
  #state = ''
  /** The policy that decides now, or the model that is waited for. */
  #aside = ''
  #startedAt: number | undefined
  #cancelTimer: (() => void) | undefined

  /** `hint`: what Ctrl-C does. */
  constructor(screen: Screen, colours: Colours, clock: Clock, hint = 'Ctrl-C to stop') {
    this.#hint = hint
    this.#screen = screen
    this.#colours = colours
    this.#clock = clock
  }

  /** Processes an event of the agent. */
  see(event: AgentEvent): void {
    if (event.type === 'run.start') this.#start()
    else if (event.type === 'state.changed') this.#state = event.state
    else if (event.type === 'tool.start') this.#tools.set(event.callId, callLine(event.name, event.input))
    else if (event.type === 'tool.end') this.#tools.delete(event.callId)
    else if (event.type === 'policy.start') this.#aside = `policy ${oneLine(event.policy)}`
    else if (event.type === 'model.waiting') this.#aside = waitText(event)
    else if (event.type === 'policy.end' || event.type === 'model.waited') this.#aside = ''
    else if (event.type === 'run.end') this.close()
    else return
    this.#draw()
  }

  /** Begins with an agent that is already busy. */
  begin(state: string): void {
    this.#state = state
    if (this.#startedAt === undefined) this.#start()
    this.#draw()
  }

  close(): void {
    this.#cancelTimer?.()
    this.#startedAt = undefined
    this.#tools.clear()
    this.#aside = ''
    this.#screen.setStatus(undefined)
  }

  #start(): void {
    this.#startedAt = this.#clock.now()
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
    if (this.#startedAt === undefined) return
    const seconds = Math.floor((this.#clock.now() - this.#startedAt) / 1000)
    const tools = [...this.#tools.values()].join(', ')
    const parts = [this.#state, this.#aside, tools, `${seconds} s`, this.#hint].filter((part) => part !== '')
    this.#screen.setStatus(this.#colours.dim(`● ${parts.join(' · ')}`))
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
