import { chart } from '../../../packages/charts/src/chart.ts'
import { counted } from '../../../packages/charts/src/amounts.ts'
import { conversationGraph } from '../../../packages/charts/src/conversationGraph.ts'
import { messageOf } from '../../../src/protocol/errors.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { ModelRequest, RequestMessage } from '../../../src/protocol/ports/model.ts'
import { draw, element } from './drawn.ts'
import { openSorter, type PageSorter } from './sorter.ts'

const limits = [
  ['1500', '1.5 s'],
  ['10000', '10 s'],
] as const

/** The page's controls and views. */
function layOut(place: HTMLElement) {
  const button = (label: string, kind = ''): HTMLButtonElement =>
    element('button', { type: 'button', class: kind }, [label])
  const step = button('Step', 'primary')
  const play = button('Play')
  const again = button('Start over')
  const limit = element('select', { id: 'playground-limit' })
  limit.append(...limits.map(([value, label]) => element('option', { value }, [label])))
  const status = element('p', { class: 'playground-status', role: 'status' })
  const [chartPlace, graphPlace] = [element('div'), element('div')]
  const request = element('ol', { class: 'playground-request', tabindex: '0', 'aria-label': 'Messages' })
  const requestTitle = element('h2', {}, ['What the model is asked'])
  const events = element('ol', { class: 'playground-events', tabindex: '0', 'aria-label': 'Events' })
  place.replaceChildren(
    element('div', { class: 'playground-bar' }, [
      step,
      play,
      again,
      element('label', { for: 'playground-limit' }, ['The check may take ']),
      limit,
    ]),
    status,
    element('h2', {}, ['The conversation']),
    graphPlace,
    element('div', { class: 'playground-columns' }, [
      element('section', {}, [requestTitle, request]),
      element('section', {}, [element('h2', {}, ['Events, as a client gets them']), events]),
    ]),
    element('h2', {}, ['The agent’s statechart']),
    chartPlace,
  )
  return { step, play, again, limit, status, chartPlace, graphPlace, request, requestTitle, events }
}

type Views = ReturnType<typeof layOut>

const short = (text: string, most = 160): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** A message of a request in a line. */
function said({ role, content }: RequestMessage): string {
  const calls = content.flatMap((block) =>
    block.type === 'toolCall' ? [`${block.name}(${short(JSON.stringify(block.input), 60)})`] : [],
  )
  return [short(textOf(content)), ...calls].filter(Boolean).join(' → ') || role
}

function showRequest({ request, requestTitle }: Views, { messages }: ModelRequest): void {
  requestTitle.textContent = `What the model is asked: ${counted(messages.length, 'message')}`
  request.replaceChildren(
    ...messages.map((message) =>
      element('li', {}, [
        element('b', {}, [message.role === 'toolResult' ? 'result' : message.role]),
        ' ',
        said(message),
      ]),
    ),
  )
}

const quiet = new Set(['reply.delta', 'toolCall.delta', 'thinking.delta'])

/** One session of the demo, until it is started over. */
class Session {
  readonly #views: Views
  readonly #sorter: PageSorter
  #isOver = false
  #drawing = 0

  constructor(views: Views, sorter: PageSorter) {
    this.#views = views
    this.#sorter = sorter
    sorter.steps.onChange(() => this.#update())
    sorter.agent.subscribe(
      (event) => {
        if (quiet.has(event.type) || this.#isOver) return
        if (event.type === 'turn.request') showRequest(views, event.request)
        const label = 'name' in event && typeof event.name === 'string' ? `${event.type} ${event.name}` : event.type
        views.events.append(element('li', {}, [element('span', {}, [String(event.seq)]), ` ${label}`]))
        views.events.scrollTop = views.events.scrollHeight
        this.#update()
      },
      { requests: true },
    )
  }

  async run(): Promise<void> {
    const { agent, task } = this.#sorter
    this.#update()
    const { text, stopReason } = await agent.prompt(task).result
    if (this.#isOver) return
    this.#isOver = true
    this.#update()
    this.#views.status.textContent = stopReason === 'stop' ? text : `The run ended: ${stopReason}. ${text}`
  }

  step(): void {
    const { steps } = this.#sorter
    steps.pause()
    steps.next()
  }

  toggle(): void {
    const { steps } = this.#sorter
    if (steps.isRunning) steps.pause()
    else steps.run()
  }

  async close(): Promise<void> {
    this.#isOver = true
    cancelAnimationFrame(this.#drawing)
    await this.#sorter.close()
  }

  #update(): void {
    const { step, play, status } = this.#views
    const { isWaiting, isRunning } = this.#sorter.steps
    play.textContent = isRunning && !this.#isOver ? 'Pause' : 'Play'
    play.disabled = this.#isOver
    step.disabled = this.#isOver || !(isWaiting || isRunning)
    if (!this.#isOver) status.textContent = isWaiting ? 'The model waits: Step lets it answer once.' : 'Working …'
    cancelAnimationFrame(this.#drawing)
    this.#drawing = requestAnimationFrame(() => void this.#draw())
  }

  async #draw(): Promise<void> {
    const { chartPlace, graphPlace } = this.#views
    const { local } = this.#sorter
    const graph = conversationGraph(local, { format: 'svg' })
    draw(graphPlace, graph, { alt: 'The conversation so far', name: 'playground-conversation' })
    const picture = await chart(local, { format: 'svg' })
    draw(chartPlace, picture, { alt: 'The statechart of the agent', name: 'playground-chart' })
  }
}

async function start(place: HTMLElement): Promise<void> {
  const views = layOut(place)
  let session: Session | undefined
  const begin = async (): Promise<void> => {
    views.again.disabled = true
    await session?.close()
    views.events.replaceChildren()
    session = new Session(views, await openSorter({ timeLimitMs: Number(views.limit.value) }))
    views.again.disabled = false
    await session.run()
  }
  const tell = (thrown: unknown): void => void (views.status.textContent = `It failed: ${messageOf(thrown)}`)
  views.step.addEventListener('click', () => session?.step())
  views.play.addEventListener('click', () => session?.toggle())
  for (const [control, event] of [
    [views.again, 'click'],
    [views.limit, 'change'],
  ] as const)
    control.addEventListener(event, () => void begin().catch(tell))
  await begin().catch(tell)
}

const place = document.getElementById('live-playground')
if (place !== null) void start(place)
