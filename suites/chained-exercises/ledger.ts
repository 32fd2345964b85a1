import type { Exercise } from './exercise.ts'

const fees = {
  find: /adults (\d+) cents, youths (\d+) cents, families (\d+) cents/,
  query: 'FEE_TABLE_2026B adults youths families',
  guess: ['4000', '2000', '7000'],
}
const bank = {
  find: /the first (\d+) transfers of a month are free, each further one costs (\d+) cents/,
  query: 'BANK_CHARGES transfers free further',
  guess: ['10', '50'],
}
const reminders = {
  find: /first reminder after (\d+) days, a second after (\d+) days with a charge of (\d+) cents/,
  query: 'REMINDER_RULES first second reminder charge',
  guess: ['10', '20', '250'],
}
const accounts = {
  find: /fees (\d+), donations (\d+), hall (\d+), bank (\d+)/,
  query: 'ACCOUNT_PLAN fees donations hall bank',
  guess: ['4000', '4100', '6000', '6100'],
}
const table = {
  find: /(FEE_TABLE_\w+), decided by ([A-Z]\w+ [A-Z]\w+)/,
  query: 'FEE_TABLE decided by',
  guess: ['FEE_TABLE', 'nobody'],
}

/** Code that the embedded model writes in the conversation about a club's ledger; the tasks are in its task.json. */
export const ledger: readonly Exercise[] = [
  {
    file: '01-cents.mjs',
    solution: () => `export function toCents(text) {
  const match = /^(-?)(\\d+)(?:\\.(\\d\\d))?$/.exec(text)
  if (match === null) throw new RangeError(\`no amount: \${text}\`)
  const cents = Number(match[2]) * 100 + Number(match[3] ?? 0)
  return match[1] === '-' ? -cents : cents
}
`,
    slip: ["match[1] === '-' ? -cents : cents", 'cents'],
  },
  {
    file: '02-format.mjs',
    asks: 'What do members pay, by the fee table in force?',
    solution: () => `export function formatCents(cents) {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return \`\${cents < 0 ? '-' : ''}\${digits.slice(0, -2)}.\${digits.slice(-2)}\`
}
`,
    slip: ["padStart(3, '0')", "padStart(2, '0')"],
  },
  {
    file: '03-sum.mjs',
    solution: () => `export function sumCents(list) {
  let sum = 0
  for (const cents of list) {
    if (!Number.isInteger(cents)) throw new RangeError(\`no whole number of cents: \${cents}\`)
    sum += cents
  }
  return sum
}
`,
    slip: ['!Number.isInteger(cents)', 'Number.isNaN(cents)'],
  },
  {
    file: '04-split.mjs',
    solution: () => `export function splitCents(total, parts) {
  if (!Number.isInteger(parts) || parts < 1) throw new RangeError(\`cannot be split in \${parts} parts\`)
  const share = Math.floor(total / parts)
  const more = total - share * parts
  return Array.from({ length: parts }, (_, index) => share + (index < more ? 1 : 0))
}
`,
    slip: ['index < more', 'index <= more'],
  },
  {
    file: '05-percent.mjs',
    asks: 'What does the bank charge for transfers?',
    solution:
      () => `export const percentOf = (cents, percent) => Math.sign(cents) * Math.round((Math.abs(cents) * percent) / 100)
`,
    slip: ['Math.round(', 'Math.floor('],
  },
  {
    file: '06-days.mjs',
    solution:
      () => `export const daysBetween = (from, to) => Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000)
`,
    slip: ['Date.parse(to) - Date.parse(from)', 'Date.parse(from) - Date.parse(to)'],
  },
  {
    file: '07-overdue.mjs',
    solution: () => `import { daysBetween } from './06-days.mjs'

export const isOverdue = (due, today, graceDays = 0) => daysBetween(due, today) > graceDays
`,
    slip: ['> graceDays', '>= graceDays'],
  },
  {
    file: '08-group.mjs',
    asks: 'When are members reminded, and what does it cost them?',
    solution: () => `export function groupBy(entries, key) {
  const groups = {}
  for (const entry of entries) (groups[entry[key]] ??= []).push(entry)
  return groups
}
`,
    slip: ['.push(entry)', '.unshift(entry)'],
  },
  {
    file: '09-balance.mjs',
    solution: () => `export const balance = (entries) =>
  entries.reduce((sum, { kind, cents }) => sum + (kind === 'in' ? cents : -cents), 0)
`,
    slip: ["kind === 'in' ? cents : -cents", 'cents'],
  },
  {
    file: '10-running.mjs',
    solution: () => `export function runningBalance(entries) {
  let sum = 0
  return entries.map(({ kind, cents }) => (sum += kind === 'in' ? cents : -cents))
}
`,
    slip: ['let sum = 0', 'let sum = 1'],
  },
  {
    file: '11-csv.mjs',
    asks: 'Which numbers do the accounts have?',
    solution: () => `export function parseLine(line) {
  const cells = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    const char = line[at]
    if (isQuoted && char === '"' && line[at + 1] === '"') {
      cell += '"'
      at += 1
    } else if (char === '"') isQuoted = !isQuoted
    else if (char === ';' && !isQuoted) {
      cells.push(cell)
      cell = ''
    } else cell += char
  }
  return [...cells, cell]
}
`,
    slip: ["char === ';' && !isQuoted", "char === ';'"],
  },
  {
    file: '12-sort.mjs',
    solution:
      () => `export const byDate = (entries) => entries.toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0))
`,
    slip: ['.toSorted(', '.sort('],
  },
  {
    file: '13-fee.mjs',
    needs: fees,
    solution: ([adult, youth, family]) => `const fees = { adult: ${adult}, youth: ${youth}, family: ${family} }

export function feeOf(kind) {
  if (!Object.hasOwn(fees, kind)) throw new RangeError(\`no such member: \${kind}\`)
  return fees[kind]
}
`,
    slip: ['!Object.hasOwn(fees, kind)', 'kind === undefined'],
  },
  {
    file: '14-bank.mjs',
    needs: bank,
    solution: ([free, cents]) => `export const bankCharge = (transfers) => Math.max(0, transfers - ${free}) * ${cents}
`,
    slip: ['Math.max(0, ', 'Math.max(1, '],
  },
  {
    file: '15-remind.mjs',
    needs: reminders,
    solution: ([first, second, cents]) => `export function reminder(daysLate) {
  if (daysLate > ${second}) return { kind: 'second', cents: ${cents} }
  return daysLate > ${first} ? { kind: 'first', cents: 0 } : { kind: 'none', cents: 0 }
}
`,
    slip: ["kind: 'second'", "kind: 'last'"],
  },
  {
    file: '16-account.mjs',
    needs: accounts,
    solution: ([
      fee,
      donation,
      hall,
      charge,
    ]) => `const accounts = { fees: ${fee}, donations: ${donation}, hall: ${hall}, bank: ${charge} }

export function accountOf(kind) {
  if (!Object.hasOwn(accounts, kind)) throw new RangeError(\`no such account: \${kind}\`)
  return accounts[kind]
}
`,
    slip: ['throw new RangeError', 'throw new Error'],
  },
  {
    file: '17-invoice.mjs',
    solution: () => `import { formatCents } from './02-format.mjs'
import { feeOf } from './13-fee.mjs'

export const invoice = (kinds) => \`Total: \${formatCents(kinds.reduce((sum, kind) => sum + feeOf(kind), 0))} EUR\`
`,
    slip: [' EUR', ''],
  },
  {
    file: '18-statement.mjs',
    solution: () => `import { formatCents } from './02-format.mjs'
import { runningBalance } from './10-running.mjs'
import { byDate } from './12-sort.mjs'

export function statement(entries) {
  const sorted = byDate(entries)
  const sums = runningBalance(sorted)
  return sorted.map(({ date, text }, index) => \`\${date} \${text}: \${formatCents(sums[index])}\`)
}
`,
    slip: ['byDate(entries)', 'entries'],
  },
  {
    file: '19-household.mjs',
    solution: () => `import { feeOf } from './13-fee.mjs'

export const householdFee = (kinds) =>
  Math.min(
    feeOf('family'),
    kinds.reduce((sum, kind) => sum + feeOf(kind), 0),
  )
`,
    slip: ['Math.min(', 'Math.max('],
  },
  {
    file: '20-source.mjs',
    needs: table,
    solution: ([name, who]) => `export const feeSource = () => '${name}, decided by ${who}'
`,
    slip: [', decided by ', ' of '],
  },
]
