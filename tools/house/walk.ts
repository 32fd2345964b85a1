import { roomOf } from './rooms.ts'
import { noteCalls } from './walkHook.ts'

noteCalls()

const { createRuntime, defineAgent } = await import('../../src/index.ts')

const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }
let onRequest = (): void => {}
const runtime = await createRuntime()
const agent = await runtime.spawn(
  defineAgent({
    name: 'walker',
    instructions: 'Answer.',
    braking: { revert: true },
    model: {
      id: 'walked',
      async *stream() {
        onRequest()
        yield { type: 'text.delta', text: 'hi' }
        yield { type: 'done', reply: { content: [{ type: 'text', text: 'hi' }], stopReason: 'stop', usage } }
      },
    },
  }),
)
for (let warm = 0; warm < 5; warm += 1) await agent.prompt('warm').result
const calls: string[] = []
globalThis.walked = calls
onRequest = () => void (globalThis.walked = undefined)
await agent.prompt('hello').result
await runtime.close()

const moves = (names: readonly string[]): number => names.filter((name, at) => name !== names[at - 1]).length
const entered = calls.filter(
  (file, at) => file !== calls[at - 1] && file.endsWith('runtime/agents/agentHost.ts'),
).length
const figures = {
  calls: calls.length,
  files: new Set(calls).size,
  fileMoves: moves(calls),
  roomMoves: moves(calls.map(roomOf)),
  hostEntered: entered,
}
process.stdout.write(`${JSON.stringify(figures)}\n`)
