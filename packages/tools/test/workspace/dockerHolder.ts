// Holds a container open until it is killed: see dockerWorkspace.test.ts.
import { dockerWorkspace } from '../../src/workspace/dockerWorkspace.ts'

const [program = '', root = ''] = process.argv.slice(2)
const box = dockerWorkspace({ image: 'any', root, program })
await box.exec('touch begun; sleep 1000', {
  signal: new AbortController().signal,
  timeoutMs: 600_000,
  onOutput: () => {},
})
