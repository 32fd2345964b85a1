/** Returns the files that `escapement init` writes, by name. `ending`: the extension with which Node treats TypeScript as a module there. */
export function initialFiles(ending: 'ts' | 'mts', hasAgents: boolean): { readonly [name: string]: string } {
  const agentsFile = `agents.${ending}`
  return {
    [`escapement.config.${ending}`]: configText(agentsFile, hasAgents),
    ...(hasAgents ? {} : { [agentsFile]: agentsText }),
  }
}

const configText = (agentsFile: string, hasAgents: boolean): string => `import { defineConfig } from 'escapement'
${hasAgents ? '' : `import { helper } from './${agentsFile}'\n`}
// The escapement command reads this file in its folder, and in those below it within the same repository (the folder
// with .git) or your home folder. Options of the command line take precedence over it.
export default defineConfig({
  // The agents of "escapement chat", "run", "serve" and "acp"; "chat" and "run" take the first, or --agent <name>.
${hasAgents ? `  // agents: [yours], // import them from ./${agentsFile}, which was here before\n` : '  agents: [({ model }) => helper(model)],\n'}
  // The model, unless --model or ESCAPEMENT_MODEL names one. Without any: the first provider whose key is set, else
  // "embedded", which needs no key and can only repair failing tests.
  // model: 'anthropic:claude-sonnet-5-5',
  // models: { fast: 'google:gemini-flash-latest' }, // names for --model

  // Where sessions are recorded; default: .escapement in the working folder.
  // store: './sessions',

  // Never in a log, whatever a tool returns.
  // redact: { secrets: process.env.API_KEY ? { API_KEY: process.env.API_KEY } : {} },

  // What "escapement serve" opens, besides the page.
  // serve: { port: 8080, acp: true, agUi: true },
})
`

const agentsText = `import { defineAgent, workspaceTools, type Model } from 'escapement'

/** Works in this folder: it reads and edits files, and asks before it runs a command. */
export const helper = (model: Model) =>
  defineAgent({
    name: 'helper',
    model,
    instructions: 'Look before you change anything, make the smallest change that does the task, and say how you checked it.',
    // With snapshots, /undo in the chat and Revert on the page bring files back.
    tools: workspaceTools(import.meta.dirname, { needsApproval: { run_command: true }, snapshots: true }),
    limits: { turns: 100 },
    // Old steps are folded where that saves money, the model may go back, and loops are noticed. Leave out what you do not want.
    braking: { fold: true, revert: { undo: true }, stall: true },
  })
`
