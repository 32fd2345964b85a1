import { judgeFile } from '../../../../test/judges/judge.ts'

/** The command of a reference server. */
export function reference(name: 'everything' | 'filesystem' | 'memory', ...args: readonly string[]) {
  const program = judgeFile('@modelcontextprotocol', `server-${name}`, 'dist', 'index.js')
  return { name, command: process.execPath, args: [program, ...args] } as const
}
