import { select, text } from "@clack/prompts";
import { problemWithName, TEMPLATES, type TemplateName, type Wish } from "./init.ts";

/** What was not said on the command line. Undefined when a person changed their mind. */
export async function ask(usual: Wish, given: Partial<Wish>): Promise<Wish | undefined> {
  const template = given.template ?? (await askTemplate(usual));
  if (typeof template === "symbol") return undefined;
  const name = given.name ?? (await askName(usual));
  return typeof name === "symbol" ? undefined : { template, name };
}

function askTemplate({ template }: Wish): Promise<TemplateName | symbol> {
  const names = Object.keys(TEMPLATES) as TemplateName[];
  return select({
    message: "What is it to be?",
    initialValue: template,
    options: names.map((value) => ({ value, label: value, hint: TEMPLATES[value].title })),
  });
}

function askName({ name }: Wish): Promise<string | symbol> {
  return text({
    message: "What is its name?",
    initialValue: name,
    validate: (value) => problemWithName(value ?? ""),
  });
}
