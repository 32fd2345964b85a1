import type { Exercise } from './exercise.ts'

const layout = {
  find: /(\d+) characters a line, the first line of a paragraph indented by (\d+)/,
  query: 'LAYOUT_SHEET characters a line indented',
  guess: ['72', '2'],
}
const abbreviations = {
  find: /approx\. for (\w+), dept\. for (\w+), encl\. for (\w+)/,
  query: 'ABBREVIATION_LIST approx dept encl',
  guess: ['around', 'dept', 'included'],
}
const signatures = {
  find: /private letters with (\w+), business letters with (\w+), complaints with (\w+)/,
  query: 'SIGNATURE_CODES private business complaints',
  guess: ['P', 'B', 'C'],
}
const filing = {
  find: /the year, then a ([a-z]+), then the number with (\d+) digits/,
  query: 'FILING_RULE year number digits',
  guess: ['hyphen', '4'],
}
const sheet = {
  find: /(LAYOUT_SHEET_\w+), made by ([A-Z]\w+ [A-Z]\w+)/,
  query: 'LAYOUT_SHEET made by',
  guess: ['LAYOUT_SHEET', 'nobody'],
}

const marks: Readonly<Record<string, string>> = { underscore: '_', hyphen: '-', dot: '.' }

/** Code that the embedded model writes in the conversation about letters; the tasks are in its task.json. */
export const letters: readonly Exercise[] = [
  {
    file: '01-words.mjs',
    solution: () => `export const words = (text) => text.split(/\\s+/).filter((word) => word !== '')
`,
    slip: [".filter((word) => word !== '')", ''],
  },
  {
    file: '02-capital.mjs',
    asks: 'How are our letters laid out?',
    solution: () => `export const capital = (word) => word.slice(0, 1).toUpperCase() + word.slice(1)
`,
    slip: ['word.slice(1)', 'word.slice(1).toLowerCase()'],
  },
  {
    file: '03-count.mjs',
    solution: () => `import { words } from './01-words.mjs'

export function countWords(text) {
  const counts = {}
  for (const word of words(text.toLowerCase())) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
`,
    slip: ['text.toLowerCase()', 'text'],
  },
  {
    file: '04-cut.mjs',
    solution: () => `export const cut = (text, most) => (text.length <= most ? text : \`\${text.slice(0, most - 1)}…\`)
`,
    slip: ['most - 1', 'most'],
  },
  {
    file: '05-backwards.mjs',
    asks: 'Which abbreviations do we use?',
    solution: () => `import { words } from './01-words.mjs'

export const backwards = (text) => words(text).toReversed().join(' ')
`,
    slip: [".join(' ')", '.join()'],
  },
  {
    file: '06-vowels.mjs',
    solution: () => `export const vowels = (text) => text.match(/[aeiou]/gi)?.length ?? 0
`,
    slip: ['/gi', '/g'],
  },
  {
    file: '07-palindrome.mjs',
    solution: () => `export function isPalindrome(text) {
  const letters = text.toLowerCase().match(/[a-z]/g) ?? []
  return letters.join('') === letters.toReversed().join('')
}
`,
    slip: ['text.toLowerCase()', 'text'],
  },
  {
    file: '08-shift.mjs',
    asks: 'Which codes stand below letters as signatures?',
    solution: () => `export const shift = (text, by) =>
  text.replace(/[a-z]/g, (char) => String.fromCharCode(97 + ((((char.charCodeAt(0) - 97 + by) % 26) + 26) % 26)))
`,
    slip: [' + 26) % 26)))', ')))'],
  },
  {
    file: '09-longest.mjs',
    solution: () => `import { words } from './01-words.mjs'

export const longest = (text) => words(text).reduce((best, word) => (word.length > best.length ? word : best), '')
`,
    slip: ['word.length > best.length', 'word.length >= best.length'],
  },
  {
    file: '10-title.mjs',
    solution: () => `import { words } from './01-words.mjs'
import { capital } from './02-capital.mjs'

const small = ['and', 'of', 'the']

export const title = (text) =>
  words(text)
    .map((word, index) => (index > 0 && small.includes(word) ? word : capital(word)))
    .join(' ')
`,
    slip: ['index > 0 && ', ''],
  },
  {
    file: '11-initials.mjs',
    asks: 'How are letters named when they are filed?',
    solution: () => `import { words } from './01-words.mjs'

export const initials = (name) => words(name).map((word) => word[0].toUpperCase()).join('')
`,
    slip: ['.toUpperCase()', ''],
  },
  {
    file: '12-once.mjs',
    solution: () => `import { words } from './01-words.mjs'

export const once = (text) =>
  words(text)
    .filter((word, index, all) => word !== all[index - 1])
    .join(' ')
`,
    slip: ['word !== all[index - 1]', 'all.indexOf(word) === index'],
  },
  {
    file: '13-wrap.mjs',
    needs: layout,
    solution: ([width]) => `import { words } from './01-words.mjs'

export function wrap(text, width = ${width}) {
  const lines = []
  for (const word of words(text)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = \`\${last} \${word}\`
  }
  return lines
}
`,
    slip: ['last.length + 1 + word.length > width', 'last.length + word.length > width'],
  },
  {
    file: '14-indent.mjs',
    needs: layout,
    solution: ([, indent]) => `export const indented = (text) => ' '.repeat(${indent}) + text
`,
    slip: ["' '.repeat", "'_'.repeat"],
  },
  {
    file: '15-expand.mjs',
    needs: abbreviations,
    solution: ([
      approx,
      dept,
      encl,
    ]) => `const meanings = { 'approx.': '${approx}', 'dept.': '${dept}', 'encl.': '${encl}' }

export const expand = (text) => text.replace(/\\b(?:approx|dept|encl)\\./g, (short) => meanings[short])
`,
    slip: ['/g', '/'],
  },
  {
    file: '16-sign.mjs',
    needs: signatures,
    solution: ([
      home,
      work,
      complaint,
    ]) => `const codes = { private: '${home}', business: '${work}', complaint: '${complaint}' }

export function signature(kind) {
  if (!Object.hasOwn(codes, kind)) throw new RangeError(\`no such letter: \${kind}\`)
  return codes[kind]
}
`,
    slip: ['throw new RangeError', 'throw new TypeError'],
  },
  {
    file: '17-letter.mjs',
    solution: () => `import { signature } from './16-sign.mjs'

export const letter = ({ to, body, kind }) => \`Dear \${to},\\n\${body}\\n\${signature(kind)}\`
`,
    slip: ['Dear ', 'To '],
  },
  {
    file: '18-filed.mjs',
    needs: filing,
    solution: ([
      mark,
      digits,
    ]) => `export const fileName = (year, number) => \`\${year}${marks[mark!] ?? '-'}\${String(number).padStart(${digits}, '0')}.txt\`
`,
    slip: ['.txt', '.doc'],
  },
  {
    file: '19-lines.mjs',
    solution: () => `import { wrap } from './13-wrap.mjs'

export const lineCount = (text) => wrap(text).length
`,
    slip: ['.length', '.length - 1'],
  },
  {
    file: '20-source.mjs',
    needs: sheet,
    solution: ([name, who]) => `export const layoutSource = () => '${name}, made by ${who}'
`,
    slip: [', made by ', ' of '],
  },
]
