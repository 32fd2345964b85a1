import { createRuntime, fileStore, totalTokens } from 'escapement'
import { coder } from './agent.ts'
import { askPerson } from './askPerson.ts'
import { chooseModel } from './model.ts'

const task = process.argv.slice(2).join(' ') || 'The test fails. Find out why, and mend it.'
const runtime = await createRuntime({ store: fileStore('.escapement') })
const agent = await runtime.spawn(coder(chooseModel(), 'project'))
const stopped = new AbortController()
process.once('SIGINT', () => {
  stopped.abort()
  agent.abort()
})

console.log(`Task: ${task}`)
const run = agent.prompt(task)
for await (const event of run) {
  if (event.type === 'reply.delta') process.stdout.write(event.text)
  if (event.type === 'reply.end') process.stdout.write('\n')
  if (event.type === 'tool.start') console.log(`  ${event.name} ${JSON.stringify(event.input)}`)
  if (event.type === 'tool.end' && event.message.isError) console.log('  (failed)')
  if (event.type === 'approval.requested') {
    const isAllowed = await askPerson(`May it run ${JSON.stringify(event.input)}?`, stopped.signal)
    if (isAllowed !== undefined) agent.decide(event.key, isAllowed ? 'approve' : 'deny')
  }
}
const result = await run.result
console.log(`${result.stopReason}: ${result.turns} turns, ${totalTokens(result.usage)} tokens`)
console.log(`To look at it: npx escapement inspect ${agent.id}`)
await runtime.close()
