import { defineAgent, type AnyModel } from 'escapement'
import { noteTools } from './notes.ts'

/** Keeps notes in a file. */
export const assistant = (model: AnyModel, notesFile: string) =>
  defineAgent({
    name: 'assistant',
    model,
    instructions:
      'You keep the notes of the person you talk to. Be brief. Look the notes up before you say what is in them.',
    tools: noteTools(notesFile),
    // A limit in dollars, costUsd, needs the prices of the model: pricing.
    limits: { turns: 20, tokens: 300_000 },
  })
