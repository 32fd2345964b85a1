import type { Clock } from '../../protocol/clock.ts'
import type { AgentEvent } from '../../protocol/events.ts'
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
  /** That decides now. */
  #policy = ''
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
    else if (event.type === 'policy.start') this.#policy = `policy ${oneLine(event.policy)}`
    else if (event.type === 'policy.end') this.#policy = ''
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
    this.#policy = ''
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
    const parts = [this.#state, this.#policy, tools, `${seconds} s`, this.#hint].filter((part) => part !== '')
    this.#screen.setStatus(this.#colours.dim(`● ${parts.join(' · ')}`))
  }
}
