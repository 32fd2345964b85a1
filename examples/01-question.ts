// One question, one streamed answer. In your project import from 'escapement'.
import { createRuntime, defineAgent, policyModel } from '../src/index.ts'

// The embedded model is a function, so this runs without a key. A real one: model: anthropic('claude-sonnet-5-5').
const model = policyModel((request) => {
  const [question] = request.messages.at(-1)?.content ?? []
  return `You asked: ${question?.type === 'text' ? question.text : 'nothing'} An escapement lets the gears advance one tick at a time.`
})

const runtime = await createRuntime()
const agent = await runtime.spawn(defineAgent({ name: 'guide', model, instructions: 'You explain clocks.' }))

const run = agent.prompt('What is an escapement?')
for await (const event of run) if (event.type === 'reply.delta') process.stdout.write(event.text)

const { stopReason, turns, usage } = await run.result
console.log(`\n${stopReason} after ${turns} turn, ${usage.input + usage.output} tokens`)
await runtime.close()
