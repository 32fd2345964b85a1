/** One life of a caller of our own `escapement acp`: `<folder> <records>`. The process kills itself after so many records of its run; 0: never. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, fileStore } from '../../../../src/index.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { ends } from '../../../../test/support/lives.ts'
import { cliCommand } from '../../../cli/test/cliChild.ts'
import { acpAgent } from '../../src/client/acpAgent.ts'
import { callerOf } from './callerHarness.ts'

const [folder = '', most = '0'] = process.argv.slice(2)
const [command = '', ...args] = cliCommand(['acp', './agents.ts'])
const keeper = acpAgent({ name: 'keeper', command, args, cwd: folder, backoffMs: 1 })
const caller = callerOf(keeper, 'Wind the clock.')

const store = fileStore(join(folder, 'logs'))
const isFirst = !readdirSync(folder).includes('logs')
const runtime = await createRuntime({ store })
const agent = isFirst ? await runtime.spawn(caller, { id: 'a1' }) : await runtime.resume('a1', caller)
const over = ends(agent)
let seen = 0
agent.subscribe((event) => {
  if (event.type === 'state.changed' && event.state === 'paused') setImmediate(decide)
  if (event.seq === undefined || event.type === 'state.changed') return
  seen += 1
  if (seen === Number(most)) process.kill(process.pid, 'SIGKILL')
})
function decide(): void {
  for (const { key } of agent.pending()) agent.decide(key, 'approve')
}
if (agent.conversation.trunk().length === 0) agent.prompt('go')
else if (agent.pending().length > 0) decide()
else if (agent.state === 'paused') agent.resume()
if (agent.state !== 'idle' || agent.conversation.trunk().length === 0) await over
console.log(textOf(agent.conversation.trunk().at(-1)!.message.content))
await runtime.close()
