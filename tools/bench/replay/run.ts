import { RuntimeError } from '../../../src/index.ts'
import { replayCommand } from './command.ts'
import { ReplayError } from './recordedSession.ts'

try {
  process.stdout.write(`${await replayCommand(process.argv.slice(2))}\n`)
} catch (thrown) {
  if (!(thrown instanceof ReplayError) && !(thrown instanceof RuntimeError)) throw thrown
  process.stderr.write(`${thrown.message}\n`)
  process.exitCode = 1
}
