import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { judged, judgeFile } from '../../../test/judges/judge.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { clerkWith } from '../../a2a/test/clerk.ts'
import { tempFolder } from './client/opened.ts'
import { openHost } from './server/mcpHarness.ts'

/** Runs the conformance kit of the protocol in a folder; resolves with what it prints. */
async function kit({ signal }: CaseContext, folder: string, args: readonly string[]): Promise<string> {
  const script = judgeFile('@modelcontextprotocol', 'conformance', 'dist', 'index.js')
  const child = spawn(process.execPath, [script, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], signal })
  child.on('error', () => {})
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return `${out}\n${err}`
}

/** Scenarios of a client that ours passes. */
const passed = [
  'initialize',
  'tools_call',
  'elicitation-sep1034-client-defaults',
  'sse-retry',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
]
/** Scenarios that it fails, as docs/mcp.md says, each with a part of what the kit says. */
const failed: { readonly [scenario: string]: RegExp } = {
  'auth/basic-cimd': /SHOULD use URL-based client ID/,
  'auth/2025-03-26-oauth-metadata-backcompat': /Expected Check Missing: token-request/,
  'auth/cross-app-access-complete-flow': /did not perform JWT bearer grant exchange/,
}
/** The scenario that measures our client with a clock, to 500 ms: a busy machine is late now and then, a wrong client always. */
const timed = 'sse-retry'
const attemptsWhenTimed = 4
/** Number of scenarios at a time. */
const atOnce = 3

describe('the conformance kit of the protocol', (each) => {
  const it = judged(each)

  it('finds our client as the documentation says', { timeoutMs: 900_000 }, async (context) => {
    const folder = await tempFolder(context)
    const client = `${process.execPath} --disable-warning=ExperimentalWarning ${join(import.meta.dirname, 'conformanceClient.ts')} ${folder}`
    const waiting = [...passed, ...Object.keys(failed)]
    const wrong: string[] = []
    const faultIn = async (scenario: string): Promise<string | undefined> => {
      const args = ['client', '--command', client, '--scenario', scenario, '--timeout', '120000']
      const said = await kit(context, folder, args)
      const isRight = failed[scenario]?.test(said) ?? said.includes('OVERALL: PASSED')
      return isRight ? undefined : `${scenario}:\n${said.slice(-2_000)}`
    }
    const lastingFaultIn = async (scenario: string): Promise<string | undefined> => {
      const most = scenario === timed ? attemptsWhenTimed : 1
      for (let attempt = 1; ; attempt++) {
        const fault = await faultIn(scenario)
        if (fault === undefined || attempt === most) return fault
      }
    }
    const work = async (): Promise<void> => {
      for (let scenario = waiting.pop(); scenario !== undefined; scenario = waiting.pop()) {
        const fault = await lastingFaultIn(scenario)
        if (fault !== undefined) wrong.push(fault)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    assert.equal(wrong, [])
  })

  it('finds our server right where it needs no tools of its own', { timeoutMs: 120_000 }, async (context) => {
    const { server } = await openHost(context, [clerkWith()])
    const url = `http://127.0.0.1:${server.port}/mcp`
    const said = await kit(context, await tempFolder(context), ['server', '--url', url, '--suite', 'all'])
    const right = [...said.matchAll(/^✓ (\S+):/gm)].map(([, name]) => name)
    assert.equal(right, [
      'server-initialize',
      'ping',
      'tools-list',
      'server-sse-polling',
      'server-sse-multiple-streams',
      'dns-rebinding-protection',
    ])
  })
})
