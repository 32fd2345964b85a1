/** The client in a page: it is told what to do through `globalThis.driven`. Made into one module by a bundler. */
import { connect, type AgentEvent, type RunResult } from '../../../../../src/client.ts'

const events: AgentEvent[] = []
const errors: string[] = []
const results: RunResult[] = []
const said: string[] = []
let agent: Awaited<ReturnType<ReturnType<typeof connect>['spawn']>> | undefined

/** Acts of a test on the page. */
const driven = {
  events,
  errors,
  results,
  said,
  async start(url: string): Promise<void> {
    const client = connect(url, { retry: { baseMs: 2, maxMs: 30 } })
    client.onError(({ code, message }) => errors.push(`${code}: ${message}`))
    agent = await client.spawn('looking', { id: 'a1' })
    agent.subscribe((event) => events.push(event), { fromSeq: 1 })
  },
  prompt(text: string): string {
    const run = agent!.prompt(text)
    void run.result.then((result) => results.push(result))
    return run.requestId
  },
  steer(text: string): void {
    agent!.steer(text).then(
      () => said.push('done'),
      () => said.push('refused'),
    )
  },
  /** Everything, as JSON; without the requests of turns, which are much. */
  told(): string {
    return JSON.stringify({ events: events.filter(({ type }) => type !== 'turn.request'), errors, results, said })
  },
}

Object.assign(globalThis, { driven })
