import { agentAtWork } from './agentAtWork.mjs'

const [folder, serve] = process.argv.slice(2)
// A CommonJS bundle has no await at its top.
void agentAtWork(folder, { serve: serve === 'serve' }).then((seen) => process.stdout.write(JSON.stringify(seen)))
