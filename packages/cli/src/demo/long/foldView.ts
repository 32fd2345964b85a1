import { counted, whole } from '../../../../charts/src/amounts.ts'
import { outcomeLine } from '../../../../charts/src/toolLine.ts'
import { cutEnd } from '../../../../../src/protocol/text/cutMiddle.ts'
import { recallName } from '../../../../../src/conversation/tree/stepText.ts'
import type { Clock } from '../../../../../src/protocol/ports/clock.ts'
import type { AgentEvent, EventOf } from '../../../../../src/protocol/events.ts'
import type { Savings } from '../../../../sessions/src/savings/savings.ts'
import { textOf, toolCallsOf } from '../../../../../src/protocol/messages.ts'
import { oneLine, withoutControls } from '../../../../charts/src/plainText.ts'
import type { WorkView } from '../../chat/runTask.ts'
import type { Colours } from '../../terminal/colours.ts'
import type { Screen } from '../../terminal/screen.ts'
import { RequestMeter, type NameCounts } from './requestMeter.ts'
import { sparkline } from './sparkline.ts'

/** Minimum time between two redraws of the line, in milliseconds. */
const everyMs = 100
/** Columns reserved beside the bars: the size, the number of requests, the effect of Ctrl-C. */
const besideBars = 52
/** Minimum number of tokens for a full bar. It is doubled when exceeded, so that the bars rarely shrink. */
const leastTop = 8_192
const [fewestBars, mostBars] = [8, 64]

export interface FoldViewOptions {
  readonly colours: Colours
  readonly clock: Clock
  /** Returns the current number of columns of the terminal. */
  columns(): number
  /** Shows events that are not about folding: errors, and the end of the run. */
  readonly others: (event: AgentEvent) => void
}

/** Totals of the view at its end. */
export interface FoldCounts {
  readonly savings: Savings
  readonly names: NameCounts
  readonly folds: number
  readonly steps: number
  readonly recalls: number
}

/** Shows a long run by the sizes of its requests: a line of bars that grows and drops at folds, and a phrase for each fold and recall. */
export class FoldView implements WorkView {
  readonly #screen: Screen
  readonly #options: FoldViewOptions
  readonly #meter = new RequestMeter()
  /** Text of the model's last reply, on one line. */
  #said = ''
  #folds = 0
  #steps = 0
  #recalls = 0
  #recallsShown = 0
  /** Number of requests for one bar. */
  #each = 1
  /** The last fold, until the size of the next request is known. */
  #fold: { readonly event: EventOf<'prune.applied'>; readonly before: number } | undefined
  #drawnAt = -Infinity

  constructor(screen: Screen, options: FoldViewOptions) {
    this.#screen = screen
    this.#options = options
  }

  get counts(): FoldCounts {
    const { savings, names } = this.#meter
    return { savings, names, folds: this.#folds, steps: this.#steps, recalls: this.#recalls }
  }

  see(event: AgentEvent): void {
    const { others } = this.#options
    this.#meter.see(event)
    if (event.type === 'prune.applied' && event.applied && event.by === 'runtime') this.#folded(event)
    else if (event.type === 'reply.end') this.#replied(event)
    else if (event.type === 'tool.end' && event.name === recallName) this.#recalled(event)
    else if (['error', 'model.warning', 'reply.reset', 'run.end'].includes(event.type)) {
      this.#screen.setStatus(undefined)
      others(event)
    }
  }

  close(): void {
    this.#screen.setStatus(undefined)
  }

  #folded(event: EventOf<'prune.applied'>): void {
    this.#folds += 1
    this.#steps += event.steps.length
    this.#fold = { event, before: this.#meter.size }
  }

  #replied({ message }: EventOf<'reply.end'>): void {
    if (this.#fold !== undefined) this.#sayFold(this.#fold.event, this.#fold.before)
    this.#fold = undefined
    this.#draw()
    this.#said = oneLine(textOf(message.content))
    if (toolCallsOf(message.content).length === 0) this.#line(withoutControls(textOf(message.content)))
  }

  #sayFold({ steps, economics, rolled = [] }: EventOf<'prune.applied'>, before: number): void {
    const { colours } = this.#options
    const pays = economics?.paysAfter
    const parts = [
      `folded ${counted(steps.length, 'step')}: ${whole(before)} → ${counted(this.#meter.size, 'token')}`,
      ...(pays == null ? [] : [`pays after ${counted(pays, 'request')}`]),
      ...(rolled.length === 0 ? [] : ['older memos shortened']),
    ]
    this.#line(`  ${colours.green('▼')} ${parts.join(', ')}`)
  }

  /** Shows a recall: the first one between two folds, and every failed one. */
  #recalled(event: EventOf<'tool.end'>): void {
    const { colours } = this.#options
    if (event.message.isError) return this.#line(`  ${colours.red('✗')} recall: ${outcomeLine(event)}`)
    this.#recalls += 1
    if (this.#recallsShown === this.#folds) return
    this.#recallsShown = this.#folds
    this.#line(`  ${colours.yellow('↑')} ${cutEnd(this.#said, 100)} ${colours.dim(`recall → ${outcomeLine(event)}`)}`)
  }

  #line(text: string): void {
    if (!this.#screen.isAtLineStart) this.#screen.write('\n')
    this.#screen.write(`${text}\n`)
  }

  #draw(): void {
    const { clock, colours, columns } = this.#options
    const now = clock.now()
    if (now - this.#drawnAt < everyMs) return
    this.#drawnAt = now
    const { sent } = this.#meter
    const width = Math.max(fewestBars, Math.min(mostBars, columns() - besideBars))
    // So that the line moves only when it is too long.
    while (sent.length > this.#each * width) this.#each *= 2
    const top = 2 ** Math.ceil(Math.log2(Math.max(...sent, leastTop)))
    const facts = `${counted(this.#meter.size, 'token')} · ${counted(sent.length, 'request')} · Ctrl-C to stop`
    this.#screen.setStatus(`${sparkline(sent, this.#each, top)} ${colours.dim(facts)}`)
  }
}
