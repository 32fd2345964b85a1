#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { compileCacheFolder } from './compileCacheFolder.ts'

/** The minimum version of Node, equal to `engines` in package.json. */
const least = { major: 22, minor: 18 } as const

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > least.major || (major === least.major && minor >= least.minor)) {
  // Only what is loaded from now on is kept, and found again the next time.
  enableCompileCache(compileCacheFolder(process))
  const { runCli } = await import('./runCli.ts')
  process.exitCode = await runCli(process.argv.slice(2), process)
} else {
  const needed = `Node ${least.major}.${least.minor} or newer is needed; this is ${process.versions.node}.`
  process.stderr.write(`escapement: ${needed} See https://nodejs.org.\n`)
  process.exitCode = 1
}
