// Your own model: anything with an id and a `stream` that yields deltas and then one `done` or `error`.
import { setTimeout as pause } from 'node:timers/promises'
import { createRuntime, defineAgent, type Model } from '../src/index.ts'

const words = ['tick', 'tock', 'tick', 'tock']
let attempts = 0

const metronome: Model = {
  id: 'example:metronome',
  async *stream(request, { signal }) {
    attempts += 1
    let text = ''
    for (const word of words) {
      await pause(10, undefined, { signal })
      text += `${word} `
      yield { type: 'text.delta', text: `${word} ` }
      // The first attempt breaks off in the middle: the runtime takes the reply back and tries again.
      if (attempts === 1 && word === 'tock') {
        yield { type: 'error', error: { kind: 'network', message: 'The line went dead.', retryAfterMs: 10 } }
        return
      }
    }
    const usage = { input: request.messages.length, output: words.length, cacheRead: 0, cacheWrite: 0 }
    yield { type: 'done', reply: { content: [{ type: 'text', text }], stopReason: 'stop', usage } }
  },
}

const runtime = await createRuntime()
const agent = await runtime.spawn(defineAgent({ name: 'clock', model: metronome }))

const run = agent.prompt('Go.')
for await (const event of run) {
  if (event.type === 'reply.delta') process.stdout.write(event.text)
  if (event.type === 'reply.reset') console.log(`\n(taken back: ${event.error.message})`)
}
console.log(`\n${JSON.stringify(await run.result)}`)
await runtime.close()
