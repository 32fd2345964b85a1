/** Control characters of a model's or tool's text could move the cursor or worse. Keeps line breaks. */
export const harmless = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are what is to go
  text.replace(/\t/g, '    ').replace(/\u001B\[[\d;?]*[A-Za-z]|[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, '')
