import { z } from 'zod'
import { defineTool, type Tool } from '../../src/index.ts'

interface Answer {
  /** Words by which a question is known. */
  readonly about: RegExp
  readonly text: string
}

/** Knowledge of each colleague, by the id of the task. */
const known: Readonly<Record<string, readonly Answer[]>> = {
  ledger: [
    {
      about: /fee|pay/i,
      text: 'That is in FEE_TABLE_2026B, decided by Henrike Asmussen after the meeting in May: adults 4250 cents, youths 1775 cents, families 7325 cents a quarter.',
    },
    {
      about: /bank|transfer/i,
      text: 'By the BANK_CHARGES of our branch the first 12 transfers of a month are free, each further one costs 35 cents.',
    },
    {
      about: /remind|late|overdue/i,
      text: 'Our REMINDER_RULES: a first reminder after 16 days, a second after 37 days with a charge of 450 cents. The first is free of charge, and days are counted from the day it was due: what is exactly that old is not reminded yet.',
    },
    {
      about: /account|number/i,
      text: 'The ACCOUNT_PLAN has fees 4013, donations 4027, hall 6114, bank 6238.',
    },
  ],
  letters: [
    {
      about: /layout|laid|line|column/i,
      text: 'That is in LAYOUT_SHEET_7C, made by Ottilie Brandvold when we moved: 46 characters a line, the first line of a paragraph indented by 5.',
    },
    {
      about: /abbrev/i,
      text: 'The ABBREVIATION_LIST has three that must be written out for readers: approx. for roughly, dept. for bureau, encl. for attached.',
    },
    {
      about: /sign|code/i,
      text: 'SIGNATURE_CODES: we close private letters with WARMLY_31, business letters with REGARDS_58, complaints with NOTED_77.',
    },
    {
      about: /fil|name/i,
      text: 'The FILING_RULE is: the year, then a underscore, then the number with 6 digits, and .txt at the end.',
    },
  ],
}

const chatter = [
  'By the way, the kettle in the small kitchen is broken again, and nobody knows who had it last.',
  'I am at my desk until four and then on the train, where there is no reception to speak of.',
  'My holidays begin next week, and before that the cupboard with the old folders has to be emptied.',
  'Have you seen the new chairs? They look better than they are, if you ask me.',
  'The meeting on Thursday takes place in the room with the green door, as the other one is being painted.',
  'Somebody asked for you yesterday, but did not leave a name; I said that you would be back soon.',
  'The plants need water on Fridays, all but the one at the window, which has had enough for a year.',
  'I have moved the printer to the corridor, since it was too loud for thinking.',
  'The bakery at the corner has closed, so lunch is further away than it was.',
  'There was a long letter about parking again, of which I understood half.',
  'Do you remember the clock in the hall? It runs now, and strikes when it likes.',
  'I have put the keys of the archive where they were before, in the blue tin.',
] as const

/** Sentences that stand around an answer. */
const chattiness: Readonly<Record<string, number>> = { ledger: 84, letters: 32 }

/** The answer in the middle of what else a colleague has to tell. */
function spoken(text: string, at: number, sentences: number): string {
  const around = Array.from({ length: sentences }, (_, index) => chatter[(index * 5 + at) % chatter.length]!)
  return [...around.slice(0, sentences / 2), text, ...around.slice(sentences / 2)].join(' ')
}

/** A colleague who knows what is in no file, talks a lot, and answers each question once. */
export function colleagueTool(taskId: string): Tool {
  const told = new Set<Answer>()
  return defineTool({
    name: 'ask_colleague',
    description:
      'Asks a colleague something that is in no file. Short of time, the colleague answers a question only once.',
    input: z.object({ question: z.string().min(3) }),
    effects: 'irreversible',
    run: ({ question }) => {
      const answers = known[taskId] ?? []
      const at = answers.findIndex(({ about }) => about.test(question))
      const answer = answers[at]
      if (answer === undefined) return 'Of that I know nothing.'
      if (told.has(answer)) return 'I have told you that already, and am busy now: you have it in what I wrote.'
      told.add(answer)
      return spoken(answer.text, at, chattiness[taskId] ?? 0)
    },
  })
}
