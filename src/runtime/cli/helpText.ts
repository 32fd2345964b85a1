import type { Command } from './command.ts'
import { providers } from './models/providers.ts'

/** What `--help` prints. */
export function helpText(commands: Readonly<Record<string, Command>>): string {
  const lines = Object.values(commands).map(({ usage, summary }) => `  escapement ${usage.padEnd(34)} ${summary}`)
  const models = Object.entries(providers).map(
    ([name, { packageName, keys, defaultModel }]) =>
      `  ${`${name}:<model id>`.padEnd(22)} ${packageName.padEnd(18)} ${keys[0].padEnd(30)} ${defaultModel}`,
  )
  return `escapement: agents that work in a folder with tools, recorded from the first message on.

Usage:
${lines.join('\n')}

Options:
  --dir <folder>          where to work; default: the current folder
  --model <provider:id>   the model, or ESCAPEMENT_MODEL; "embedded" for the one that needs no key
  --time-limit <ms>       of demo sort: what the sort is held to
  --json                  print every event as a line of JSON, and nothing else
  --yes, -y               run commands without asking; else they are asked for on a terminal and denied without one
  --help, -h              this text
  --version, -V           the version

Models (provider, package to install, key in the environment, default):
${models.join('\n')}
Without --model the first one whose key is set and whose package is installed is used, else the embedded model: a small
program that needs no key and can only repair failing tests.

In a chat: a line typed while the agent works is given to it between two tool calls. Ctrl-C stops the work, twice leaves.
What is said and done is recorded in <folder>/.escapement. Commands are not sandboxed: only the file tools stay in the folder.

Exit codes: 0 done, 1 not done, 2 wrong usage, 130 stopped by Ctrl-C.
`
}
